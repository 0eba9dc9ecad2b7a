"""A request with an id, and its abort."""

import uuid

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    request_id = uuid.uuid4().hex
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await post(base + "/generate", {"rid": request_id, "input_ids": ids, "sampling_params": sampling_params})
    if out["meta_info"]["finish_reason"]["type"] == "abort":
        await post(base + "/abort_request", {"rid": request_id})
        await post(f"{base}/abort_request", json_body(abort_all=True))
    sample.response = out["text"]
    return sample


def json_body(**fields):
    return fields
