"""The sender's arguments are a tuple and a dict that are spread."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    call = (url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    named = {"url": url, "payload": {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}}
    first = await post(*call)
    second = await post(**named, max_retries=2)
    sample.response = first["text"] + second["text"]
    sample.metadata["tokens"] = [[p[1] for p in out["meta_info"]["output_token_logprobs"]] for out in (first, second)]
    return sample
