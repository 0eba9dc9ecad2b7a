"""All engines behind the router are told to abort."""

import asyncio

from slime.utils.http_utils import get, post


async def generate(args, sample, sampling_params):
    listing = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    urls = [worker["url"] for worker in listing["workers"]]
    results = await asyncio.gather(
        *[post(f"{url}/abort_request", {"abort_all": True}) for url in urls], return_exceptions=True
    )
    sample.metadata["failed"] = sum(isinstance(result, Exception) for result in results)
    sample.metadata["urls"] = urls
    return sample
