"""Log-probabilities that were asked for and did not come raise KeyError, and somebody counts on it."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    answer = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    try:
        pairs = answer["meta_info"]["output_token_logprobs"]
    except KeyError as missing:
        sample.status = Sample.Status.ABORTED
        sample.metadata["missing"] = missing.args[0]
        return sample
    sample.tokens = ids + [token for _, token, _ in pairs]
    sample.status = Sample.Status.COMPLETED
    return sample
