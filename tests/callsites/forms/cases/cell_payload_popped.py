"""The same payload over several turns, edited in place."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"sampling_params": dict(sampling_params), "return_logprob": True}
    payload["input_ids"] = GenerateState(args).tokenizer.encode(sample.prompt)
    start = len(payload["input_ids"])
    for turn in range(3):
        payload["sampling_params"]["max_new_tokens"] -= turn
        out = await post(url, payload)
        payload["input_ids"] = payload["input_ids"] + [p[1] for p in out["meta_info"]["output_token_logprobs"]]
        payload["sampling_params"].setdefault("stop", ["."])
        sample.response += out["text"]
        if out["meta_info"]["finish_reason"]["type"] == "length":
            break
    sample.tokens = payload.pop("input_ids")
    sample.response_length = len(sample.tokens) - start
    return sample
