"""The answer and its finish reason are matched against patterns of a mapping."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    match out:
        case {"text": str() as text, "meta_info": {"output_token_logprobs": [(first, token, _), *rest]}}:
            sample.response = text
            sample.metadata["first"] = [round(first, 4), token, len(rest)]
        case {"text": text}:
            sample.metadata["first"] = None
    match out["meta_info"]["finish_reason"]:
        case {"type": "length", **more}:
            sample.status = Sample.Status.TRUNCATED
            sample.metadata["more"] = sorted(more)
        case {"type": "abort"}:
            sample.status = Sample.Status.ABORTED
        case {"type": "stop"}:
            sample.status = Sample.Status.COMPLETED
        case None:
            sample.status = Sample.Status.FAILED
    return sample
