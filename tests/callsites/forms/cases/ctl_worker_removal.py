"""The workers' listing, read for what it has."""

from slime.utils.http_utils import get


async def generate(args, sample, sampling_params):
    response = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    urls = [w.get("url") for w in response.get("workers", [])]
    sample.metadata["urls"] = urls
    sample.metadata["count"] = len(response["workers"])
    return sample
