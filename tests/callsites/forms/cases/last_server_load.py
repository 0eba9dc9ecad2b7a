"""Draining: the load of each worker is read until it is zero."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    rid = f"{sample.index}-0"
    first, second = {"rid": rid}, dict(rid=rid)
    out = await post(url, {**first, "input_ids": ids, "sampling_params": sampling_params})
    root = url.rsplit("/", 1)[0]
    await post(f"{root}/abort_request", json_of(second))
    await post(root + "/abort_request", {"rid": first["rid"]})
    await post(url.replace("/generate", "/abort_request"), {"abort_all": True})
    sample.response = out["text"]
    return sample


def json_of(body):
    return {**body}
