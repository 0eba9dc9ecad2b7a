"""The payload is read back by key, by constant, by membership, after it was sent."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

PROMPT = "input_ids"


async def generate(args, sample, sampling_params):
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    if "return_logprob" not in payload:
        payload["return_logprob"] = True
    out = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    sample.tokens = payload[PROMPT] + [p[1] for p in out["meta_info"]["output_token_logprobs"]]
    sample.metadata["keys"] = sorted(payload)
    sample.metadata["asked"] = payload.get("return_logprob")
    sample.metadata["budget"] = payload["sampling_params"]["max_new_tokens"]
    return sample
