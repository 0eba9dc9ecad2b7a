"""More of the finish reason than its type."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample

STATUS = {"stop": Sample.Status.COMPLETED, "length": Sample.Status.TRUNCATED, "abort": Sample.Status.ABORTED}


async def generate(args, sample: Sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params})
    reason = output["meta_info"]["finish_reason"]
    sample.status = STATUS[reason["type"]]
    sample.metadata["length"] = reason.get("length")
    sample.metadata["is"] = [reason["type"] in ("stop", "length"), isinstance(reason, dict), reason["type"] == "abort"]
    sample.weight_versions.append(output["meta_info"]["weight_version"])
    return sample
