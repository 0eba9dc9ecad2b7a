"""The payload grows by every means that a dict has."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = dict(sampling_params=sampling_params)
    payload.setdefault("return_logprob", True)
    payload |= {"input_ids": state.tokenizer.encode(sample.prompt)}
    payload.update({"stream": False})
    payload["sampling_params"] = {**payload["sampling_params"], "max_new_tokens": 6}
    payload["sampling_params"]["temperature"] = 0.25
    out = await post(url, payload)
    sample.tokens = payload["input_ids"] + [p[1] for p in out["meta_info"]["output_token_logprobs"]]
    sample.metadata["asked"] = [payload["sampling_params"]["max_new_tokens"], payload["return_logprob"]]
    return sample
