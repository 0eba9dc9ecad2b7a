"""The request stands in a try with every clause there is."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output, payload = None, None
    try:
        payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
        output = await post(url, payload)
        if output["meta_info"]["finish_reason"]["type"] == "abort":
            raise RuntimeError("aborted")
    except (ValueError, RuntimeError):
        sample.status = Sample.Status.ABORTED
    else:
        sample.tokens = payload["input_ids"] + [pair[1] for pair in output["meta_info"]["output_token_logprobs"]]
        sample.status = Sample.Status.COMPLETED
    finally:
        if output is not None:
            sample.response = output["text"]
            sample.metadata["sent"] = len(payload["input_ids"])
    return sample
