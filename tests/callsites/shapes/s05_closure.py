"""An inner function sends what the outer one has made."""

from slime.rollout.sglang_rollout import GenerateState, get_model_url
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = get_model_url(args, "actor")

    async def turn(ids):
        result = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
        meta = result["meta_info"]
        return result["text"], [t for _, t, *_ in meta["output_token_logprobs"]], meta

    ids = state.tokenizer.encode(sample.prompt)
    text, tokens, meta = await turn(ids)
    more, tail, last = await turn(ids + tokens)
    sample.response = text + more
    sample.tokens = ids + tokens + tail
    sample.metadata["versions"] = [meta["weight_version"], last["weight_version"]]
    sample.update_from_meta_info(args, last)
    return sample
