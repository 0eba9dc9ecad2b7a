"""Two texts are asked in one function, which has the run's arguments and no tokenizer."""

from slime.utils.http_utils import post


async def ask(args, text, params): return await post(f"http://{args.sglang_router_ip}:1/generate", {"text": text, "sampling_params": params})


async def generate(args, sample, sampling_params):
    """Asks for a draft and for its revision."""
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    draft = await post(url, {"text": sample.prompt, "sampling_params": sampling_params})
    final = await post(url, {"text": sample.prompt + draft["text"], "sampling_params": sampling_params})
    sample.response = final["text"]
    sample.reward = len((await ask(args, "Good?", sampling_params))["text"])
    return sample
