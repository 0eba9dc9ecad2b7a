"""The request is made by one helper and its parameters by another; a third one sends it."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def clamp(params, budget):
    clamped = params.copy()
    clamped["max_new_tokens"] = max(1, min(clamped["max_new_tokens"], budget))
    return clamped


def build_request(ids, params, *, logprobs=True):
    request = {"input_ids": ids, "sampling_params": params}
    if logprobs:
        request["return_logprob"] = True
    return request


async def ask(args, request):
    return await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", request)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await ask(args, build_request(ids, clamp(sampling_params, 7)))
    sample.append_response_tokens(
        args,
        tokens=[entry[1] for entry in out["meta_info"]["output_token_logprobs"]],
        log_probs=[entry[0] for entry in out["meta_info"]["output_token_logprobs"]],
        meta_info=out["meta_info"],
        text=out["text"],
    )
    return sample
