"""The body comes from a caller, the route does not."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def abort(base, payload):
    await post(f"{base}/abort_request", payload)


async def wake(base, tags):
    await post(f"{base}/resume_memory_occupation", {"tags": tags})


async def pause(base, mode="abort"):
    await post(f"{base}/pause_generation", payload={"mode": mode})


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    rid = "abc"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    await post(f"{base}/generate", {"rid": rid, "input_ids": ids, "sampling_params": sampling_params})
    for payload in ({"rid": rid}, {"abort_all": True}):
        await abort(base, payload)
    for tags in (["weights"], ["kv_cache", "cuda_graph"]):
        await wake(base, tags)
    for mode in ("abort", "retract", "in_place"):
        await pause(base, mode)
    return sample
