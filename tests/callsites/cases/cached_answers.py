"""Answers are remembered by prompt in a dict of the module's."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

_answers = {}


async def answer_for(args, ids, params):
    key = tuple(ids)
    if key not in _answers:
        url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
        _answers[key] = await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})
    return _answers[key]


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    first = await answer_for(args, ids, sampling_params)
    again = await answer_for(args, list(ids), sampling_params)
    sample.metadata["same"] = first is again
    sample.tokens = ids + [pair[1] for pair in again["meta_info"]["output_token_logprobs"]]
    sample.response = _answers[tuple(ids)]["text"]
    return sample
