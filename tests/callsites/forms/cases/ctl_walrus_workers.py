"""Aborting all the workers while there are pending ones."""

import asyncio

from slime.utils.http_utils import get, post


async def abort(args):
    response = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    urls = [worker["url"] for worker in response["workers"]]
    print(f"Abort request for {urls}")
    results = await asyncio.gather(*[post(f"{url}/abort_request", {"abort_all": True}) for url in urls], return_exceptions=True)
    return [url for url, result in zip(urls, results, strict=True) if not isinstance(result, Exception)]


async def generate(args, sample, sampling_params):
    if done := await abort(args):
        sample.metadata["aborted"] = len(done)
    return sample
