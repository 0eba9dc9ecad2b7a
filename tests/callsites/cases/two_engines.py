"""A policy writes and a teacher scores, in one function, with the same names."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState, get_model_url
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    ids = state.tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    output = await post(get_model_url(args, "policy"), payload)
    tokens = [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    sample.tokens, sample.response_length = ids + tokens, len(tokens)
    payload = {
        "input_ids": sample.tokens,
        "sampling_params": {"max_new_tokens": 0, "temperature": 0},
        "return_logprob": True,
        "logprob_start_len": 0,
    }
    teacher, student = await asyncio.gather(
        post(get_model_url(args, "teacher", "/generate"), payload), post(get_model_url(args, "student"), payload)
    )
    sample.teacher_log_probs = [p[0] for p in teacher["meta_info"]["input_token_logprobs"]][-len(tokens) :]
    sample.metadata["student"] = [p[0] for p in student["meta_info"]["input_token_logprobs"]][1:][-len(tokens) :]
    return sample
