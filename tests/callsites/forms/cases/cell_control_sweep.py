"""Control calls of the kinds that a weight update makes, on every worker."""

from slime.utils.http_utils import get, post


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    urls = [w["url"] for w in (await get(f"{base}/workers"))["workers"]]
    for url in urls:
        await post(f"{url}/pause_generation", {})
    for url in urls:
        await post(f"{url}/release_memory_occupation", {"tags": ["weights", "kv_cache", "cuda_graph"]})
        await post(f"{url}/resume_memory_occupation", {"tags": ["weights"]})
        await post(f"{url}/resume_memory_occupation", {"tags": ["kv_cache", "cuda_graph"]})
    for url in urls:
        await post(f"{url}/continue_generation", {})
    sample.metadata["workers"] = urls
    return sample
