"""A text prompt is sent by a helper that knows no tokenizer."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def ask(url, payload):
    return await post(url, payload)


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:" f"{args.sglang_router_port}/generate"
    output = await ask(url, {"text": sample.prompt + "?", "sampling_params": sampling_params})
    sample.response = output["text"]
    sample.tokens = state.tokenizer.encode(sample.prompt)
    return sample
