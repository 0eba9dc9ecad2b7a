"""Scoring from the end of the prompt on."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

SCORE = {"max_new_tokens": 0, "temperature": 1.0, "skip_special_tokens": False}


async def score(url, tokens, start=0):
    payload = {"input_ids": tokens, "sampling_params": dict(SCORE), "return_logprob": True, "logprob_start_len": start}
    answer = await post(url, payload)
    return [item[0] for item in answer["meta_info"]["input_token_logprobs"][1:]], answer["text"]


async def generate(args, sample, sampling_params):
    logps, text = await score(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", sample.tokens)
    sample.teacher_log_probs = logps[-sample.response_length:]
    sample.metadata["nothing"] = text
    return sample
