"""post bound to its URL by partial; the payload built by a lambda."""

import functools

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

make = lambda ids, params: {"input_ids": ids, "sampling_params": params, "return_logprob": True}  # noqa: E731


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    ask = functools.partial(post, f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", max_retries=3)
    ids = state.tokenizer.encode(sample.prompt)
    out = await ask(make(ids, sampling_params))
    lps, toks = [], []
    for entry in out["meta_info"]["output_token_logprobs"]:
        lps.append(entry[0])
        toks.append(entry[1])
    sample.append_response_tokens(args, tokens=toks, log_probs=lps, meta_info=out["meta_info"], text=out["text"])
    return sample
