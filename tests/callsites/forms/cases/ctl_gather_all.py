"""Every worker at once."""

import asyncio

from slime.utils.http_utils import get, post


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    workers = (await get(f"{base}/workers"))["workers"]
    await asyncio.gather(*[post(f"{w['url']}/abort_request", {"abort_all": True}) for w in workers])
    await asyncio.gather(*(post(f"{w['url']}/pause_generation", {"mode": "in_place"}) for w in workers), return_exceptions=True)
    tasks = [asyncio.create_task(post(f"{w['url']}/continue_generation", {})) for w in workers]
    done, _ = await asyncio.wait(tasks)
    sample.metadata["done"] = len(done)
    return sample
