"""Control calls with their bodies in names, by GET and by POST."""

from slime.utils.http_utils import get, post


async def generate(args, sample, sampling_params):
    router = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    listing = await get(f"{router}/workers")
    everything = {"abort_all": True}
    for worker in listing["workers"]:
        url = worker["url"]
        await post(f"{url}/abort_request", everything)
        await get(f"{url}/health_generate")
        await post(f"{url}/pause_generation", {"mode": "retract"})
        await post(url + "/flush_cache", payload=None)
        await post(url=f"{url}/continue_generation", payload={})
    sample.metadata["done"] = True
    return sample
