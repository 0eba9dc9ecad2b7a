"""Names are bound in conditions."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {
        "input_ids": (ids := state.tokenizer.encode(sample.prompt)),
        "sampling_params": sampling_params,
        "return_logprob": True,
    }
    if (output := await post(url, payload)) and (meta := output.get("meta_info")):
        if pairs := meta.get("output_token_logprobs"):
            sample.tokens = ids + [pair[1] for pair in pairs]
            sample.rollout_log_probs = [pair[0] for pair in pairs]
            sample.response_length = (count := len(pairs))
            sample.metadata["count"] = count
        if (kind := meta["finish_reason"]["type"]) == "abort":
            sample.status = Sample.Status.ABORTED
        sample.metadata["kind"] = kind
    return sample
