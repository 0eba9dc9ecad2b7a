"""One variable holds this route or that."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    for name in ("flush", "ask"):
        url = f"{base}/generate" if name == "ask" else f"{base}/flush_cache"
        if name == "flush":
            await post(url, {})
        else:
            ids = GenerateState(args).tokenizer.encode(sample.prompt)
            answer = await post(url, {"input_ids": ids, "sampling_params": sampling_params})
            sample.response = answer["text"]
            sample.metadata["finish"] = answer["meta_info"]["finish_reason"]["type"]
    return sample
