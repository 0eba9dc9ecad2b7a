"""A scoring call through post: prompt logprobs with their ids, no generated token."""

from slime.utils.http_utils import post


async def score(url, ids):
    body = dict(input_ids=ids, return_logprob=True, logprob_start_len=0)
    body |= {"sampling_params": {"max_new_tokens": 0, "temperature": 0}}
    return await post(url, body)


async def generate(args, sample, sampling_params):
    answer = await score(args.rm_url, sample.tokens)
    meta = answer["meta_info"]
    sample.teacher_log_probs = [lp for lp, _, _ in meta["input_token_logprobs"]][1:]
    sample.metadata["ids"] = [entry[1] for entry in meta["input_token_logprobs"]]
    sample.metadata["generated"] = [answer["output_ids"], meta["output_token_logprobs"], meta["completion_tokens"], answer["text"]]
    return sample
