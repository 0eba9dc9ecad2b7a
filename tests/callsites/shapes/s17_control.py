"""Control routes of the router's workers."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import get, post


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    workers = [worker["url"] for worker in (await get(f"{base}/workers"))["workers"]]
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    await post(f"{workers[0]}/pause_generation", {"mode": "in_place"})
    await post(f"{workers[0]}/continue_generation", {})
    await get(f"{workers[1]}/flush_cache")
    await post(f"{workers[1]}/release_memory_occupation", {})
    await post(f"{workers[1]}/resume_memory_occupation", {"tags": ["kv_cache", "cuda_graph"]})
    output = await post(f"{base}/generate", {"rid": "r1", "input_ids": ids, "sampling_params": sampling_params})
    for url in workers:
        await post(f"{url}/abort_request", {"rid": "r1"})
        await post(f"{url}/abort_request", {"abort_all": True})
    sample.response = output["text"]
    return sample
