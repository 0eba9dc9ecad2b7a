"""Memory tags in constants; mode chosen by a flag."""

from slime.utils.http_utils import post

WEIGHTS = "weights"
KV = ["kv_cache", "cuda_graph"]


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    await post(f"{base}/release_memory_occupation", {})
    await post(f"{base}/resume_memory_occupation", {"tags": [WEIGHTS]})
    await post(f"{base}/resume_memory_occupation", {"tags": KV})
    await post(f"{base}/pause_generation", {"mode": "retract" if args.partial_rollout else "abort"})
    await post(f"{base}/continue_generation", {})
    return sample
