"""An aborted request is sent again, a few times."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True}
    output = None
    for attempt in range(3):
        output = await post(url, payload)
        if output["meta_info"]["finish_reason"]["type"] == "abort":
            payload["input_ids"] = payload["input_ids"] + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
            continue
        break
    else:
        sample.status = Sample.Status.ABORTED
        return sample
    sample.metadata["attempts"] = attempt + 1
    sample.tokens = payload["input_ids"] + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    sample.response = output["text"]
    return sample
