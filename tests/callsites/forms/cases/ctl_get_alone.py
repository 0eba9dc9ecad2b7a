"""Only `get` is imported; the flush goes by GET."""

from slime.utils import http_utils
from slime.utils.http_utils import get as fetch


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    for worker in (await fetch(f"{base}/workers"))["workers"]:
        await fetch(f"{worker['url']}/flush_cache")
        await http_utils.get(worker["url"] + "/flush_cache")
        await fetch(url=f"{worker['url']}/health_generate")
    return sample
