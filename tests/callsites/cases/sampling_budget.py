"""The budget shrinks from turn to turn, and nothing is sent when it is used up."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sample.tokens = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    left = sampling_params.pop("max_new_tokens")
    while left > 0:
        params = {**sampling_params, "max_new_tokens": left}
        out = await post(url, {"input_ids": sample.tokens, "sampling_params": params, "return_logprob": True})
        pairs = out["meta_info"]["output_token_logprobs"]
        left -= len(pairs)
        sample.append_response_tokens(
            args, tokens=[p[1] for p in pairs], log_probs=[p[0] for p in pairs], meta_info=out["meta_info"], text=out["text"]
        )
        if out["meta_info"]["finish_reason"]["type"] != "length":
            return sample
    sample.status = Sample.Status.TRUNCATED
    return sample
