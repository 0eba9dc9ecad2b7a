"""The URL comes from the framework, with and without the endpoint."""

from slime.rollout.sglang_rollout import GenerateState, get_model_url
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    ids = state.tokenizer.encode(sample.prompt)
    request = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    actor = await post(get_model_url(args, "actor"), request)
    judge = await post(get_model_url(args, "judge", "/generate"), request)
    other = await post(url=get_model_url(args, "other", endpoint="/generate"), payload=request)
    sample.metadata["texts"] = [actor["text"], judge["text"], other["text"]]
    sample.metadata["margin"] = round(
        actor["meta_info"]["output_token_logprobs"][0][0] - judge["meta_info"]["output_token_logprobs"][0][0], 4
    )
    return sample
