"""The body of an abort is built in steps, and for one request by id."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    rid = f"req-{sample.index}"
    out = await post(f"{base}/generate", {"input_ids": ids, "sampling_params": sampling_params, "rid": rid})
    body = {}
    if out["meta_info"]["finish_reason"]["type"] == "stop":
        body["rid"] = rid
    else:
        body["abort_all"] = True
    await post(f"{base}/abort_request", body)
    sample.response = out["text"]
    return sample
