"""flush_cache until the server says yes."""

import asyncio

from slime.utils.http_utils import get, post


async def flush(url, tries=60):
    for attempt in range(tries):
        try:
            await get(f"{url}/flush_cache")
            break
        except OSError as e:
            print(f"flush failed, attempt {attempt}: {e}")
            await asyncio.sleep(0.01)
    else:
        raise TimeoutError(url)


async def generate(args, sample, sampling_params):
    listing = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    for worker in listing["workers"]:
        await flush(worker["url"])
        await post(worker["url"] + "/abort_request", {"abort_all": True})
    return sample
