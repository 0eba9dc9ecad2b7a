"""Scoring from a later start; the first entry of it has no logprob."""

from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    start = len(sample.tokens) - sample.response_length - 1
    payload = {
        "input_ids": sample.tokens,
        "sampling_params": {"max_new_tokens": 0, "temperature": 1.0},
        "return_logprob": True,
        "logprob_start_len": 0,
    }
    out = await post(args.rm_url, payload)
    rows = out["meta_info"]["input_token_logprobs"]
    sample.teacher_log_probs = [lp for lp, _, _ in rows[start + 1 :]]
    sample.metadata["generated"] = [out["output_ids"], out["meta_info"]["completion_tokens"], out["meta_info"]["finish_reason"]["type"]]
    sample.metadata["own"] = len(out["meta_info"].get("output_token_logprobs", []))
    return sample
