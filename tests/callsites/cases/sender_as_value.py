"""post is handed to a function that calls whatever it gets."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def timed(send, *args, **kwargs):
    return 1, await send(*args, **kwargs)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    seconds, answer = await timed(post, url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    sample.response = answer["text"]
    sample.tokens = ids + [p[1] for p in answer["meta_info"]["output_token_logprobs"]]
    sample.metadata["seconds"] = seconds
    return sample
