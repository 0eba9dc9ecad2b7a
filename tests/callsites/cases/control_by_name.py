"""Control routes are parts of strings that are put together."""

from slime.utils.http_utils import get, post

CYCLE = ("pause_generation", "flush_cache", "continue_generation")


async def generate(args, sample, sampling_params):
    listing = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    for worker in listing["workers"]:
        for verb in CYCLE:
            await post(f"{worker['url']}/{verb}", {})
    sample.metadata["done"] = len(listing["workers"])
    return sample
