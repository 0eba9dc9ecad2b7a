"""Reads that may fail stand in suppress, try with several exceptions, and finally."""

from contextlib import suppress

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params})
    with suppress(KeyError, IndexError):
        sample.metadata["first"] = output["meta_info"]["output_token_logprobs"][0][1]
    try:
        sample.metadata["start"] = output["meta_info"]["input_token_logprobs"]
    except (KeyError, TypeError) as error:
        sample.metadata["start"] = type(error).__name__
    finally:
        sample.metadata["kind"] = output["meta_info"]["finish_reason"]["type"]
    try:
        output["no_such_key"]
    except KeyError:
        sample.metadata["strict"] = True
    return sample
