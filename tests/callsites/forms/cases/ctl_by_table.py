"""Control routes stand in a table and an enum."""

import enum

from slime.utils.http_utils import get, post


class Route(str, enum.Enum):
    PAUSE = "/pause_generation"
    RESUME = "/continue_generation"


ROUTES = {"abort": "/abort_request", "flush": "/flush_cache"}


async def control(url, route, body=None):
    return await post(f"{url}{route}", body if body is not None else {})


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    for worker in (await get(base + "/workers"))["workers"]:
        await control(worker["url"], Route.PAUSE.value)
        await control(worker["url"], ROUTES["abort"], {"abort_all": True})
        await control(worker["url"], ROUTES["flush"])
        await control(worker["url"], Route.RESUME.value)
    return sample
