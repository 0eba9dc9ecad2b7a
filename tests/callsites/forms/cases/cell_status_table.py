"""Finish reasons through a table and a match."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample

STATUS = {"length": Sample.Status.TRUNCATED, "abort": Sample.Status.ABORTED, "stop": Sample.Status.COMPLETED}


def apply(sample, meta):
    reason = meta["finish_reason"]
    match reason["type"]:
        case "length" | "stop" as kind:
            sample.metadata["kind"] = kind
        case other:
            sample.metadata["other"] = other
    if reason["type"] == "length" and "length" in reason:
        sample.metadata["length"] = reason["length"]
    sample.status = STATUS[reason["type"]]


async def generate(args, sample: Sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    out = await post(url, {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True})
    apply(sample, out["meta_info"])
    sample.response = out["text"]
    return sample
