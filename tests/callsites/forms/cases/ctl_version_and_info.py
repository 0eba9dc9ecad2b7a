"""Version and info are asked for; what comes back is kept, not read."""

from slime.utils.http_utils import get


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    await get(f"{base}/get_weight_version")
    await get(f"{base}/health_generate")
    sample.metadata["asked"] = True
    return sample
