"""Somebody walks over whatever the answer holds."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    answer = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    found = {}
    for key, value in answer.items():
        if key == "text":
            found["text"] = value
        elif key == "meta_info":
            found["counts"] = {name: n for name, n in value.items() if name in ("prompt_tokens", "completion_tokens")}
    found["has"] = [name in answer for name in ("text", "meta_info", "error")]
    found["keys"] = sorted(set(answer.keys()) & {"text", "meta_info"})
    found["types"] = [isinstance(answer, dict), isinstance(answer["meta_info"], dict), isinstance(answer["text"], str)]
    sample.metadata["found"] = found
    return sample
