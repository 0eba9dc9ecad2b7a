"""Engines give their memory back and take it again, by tag."""

from slime.utils.http_utils import get, post


async def generate(args, sample, sampling_params):
    router = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    for worker in (await get(f"{router}/workers"))["workers"]:
        url = worker["url"]
        await post(f"{url}/release_memory_occupation", {})
        await post(f"{url}/resume_memory_occupation", {"tags": ["weights"]})
        await post(f"{url}/resume_memory_occupation", {"tags": ["kv_cache", "cuda_graph"]})
        sample.metadata.setdefault("awake", []).append(url)
    return sample
