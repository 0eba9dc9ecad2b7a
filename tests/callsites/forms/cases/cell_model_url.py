"""get_model_url with its endpoint given, and left out."""

from slime.rollout.sglang_rollout import GenerateState, get_model_url
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    actor = get_model_url(args, "actor")
    judge = get_model_url(args, "judge", endpoint="/generate")
    third = get_model_url(args, "third", "/generate")
    texts = []
    for url in (actor, judge, third):
        out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
        texts.append([out["text"], len(out["meta_info"]["output_token_logprobs"])])
    sample.metadata["texts"] = texts
    return sample
