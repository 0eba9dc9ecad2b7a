"""Engines are paused, their cache is dropped, and they go on."""

from slime.utils.http_utils import get, post


async def control(url, verb, **body):
    return await post(f"{url}/{verb}", body)


async def generate(args, sample, sampling_params):
    router = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    workers = (await get(router + "/workers"))["workers"]
    for worker in workers:
        await post(worker["url"] + "/pause_generation", {})
    for worker in workers:
        await post("%s/flush_cache" % worker["url"], {})
    for worker in workers:
        await post(f"{worker['url']}/continue_generation", {})
    sample.metadata["workers"] = len(workers)
    return sample
