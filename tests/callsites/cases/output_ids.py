"""The tokens are read from the answer itself, not from the pairs."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params})
    sample.tokens = ids + out["output_ids"]
    sample.response_length = len(out["output_ids"])
    sample.response = state.tokenizer.decode(out.get("output_ids", []))
    sample.metadata["agree"] = sample.response == out["text"]
    sample.metadata["counted"] = out["meta_info"]["completion_tokens"] == len(out["output_ids"])
    return sample
