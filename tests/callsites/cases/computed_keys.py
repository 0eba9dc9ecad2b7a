"""Keys are values: a loop over names, a path, a table."""

from functools import reduce

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

COUNTS = {"in": "prompt_tokens", "out": "completion_tokens", "cache": "cached_tokens"}
PATH = ("meta_info", "finish_reason", "type")


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    meta = output["meta_info"]
    sample.metadata["counts"] = {short: meta[name] for short, name in COUNTS.items()}
    sample.metadata["kind"] = reduce(lambda value, key: value[key], PATH, output)
    for key in ("input_token_logprobs", "output_token_logprobs"):
        if key in meta:
            sample.metadata[key] = len(meta[key])
    wanted = "text" if sample.index == 0 else "output_ids"
    sample.metadata["wanted"] = output[wanted]
    return sample
