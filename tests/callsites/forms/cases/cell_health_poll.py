"""Waiting for a healthy server, then asking for its version."""

import asyncio

from slime.utils.http_utils import get


async def wait_until_healthy(url, tries=3):
    for _ in range(tries):
        try:
            await get(f"{url}/health_generate")
            return True
        except OSError:
            await asyncio.sleep(0)
    return False


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    sample.metadata["healthy"] = await wait_until_healthy(base)
    return sample
