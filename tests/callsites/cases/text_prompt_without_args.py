"""Text goes to a helper that has nothing but a URL."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def complete(url, text, params):
    answer = await post(url, {"text": text, "sampling_params": params})
    return answer["text"], answer["meta_info"]["finish_reason"]["type"]


async def generate(args, sample, sampling_params):
    GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sample.response, kind = await complete(url, sample.prompt, sampling_params)
    sample.metadata["kind"] = kind
    return sample
