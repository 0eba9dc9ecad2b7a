"""http_utils under a short name, the route in a module constant."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils as h

ROUTE = "/generate"
DEFAULTS = {"return_logprob": True}


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    req = {**DEFAULTS, "sampling_params": {**sampling_params}, "input_ids": GenerateState(args).tokenizer.encode(sample.prompt)}
    res = await h.post(base + ROUTE, req)
    sample.append_response_tokens(
        args,
        tokens=[t for _, t, _ in res["meta_info"]["output_token_logprobs"]],
        log_probs=[lp for lp, _, _ in res["meta_info"]["output_token_logprobs"]],
        meta_info=res["meta_info"],
        text=res["text"],
    )
    return sample
