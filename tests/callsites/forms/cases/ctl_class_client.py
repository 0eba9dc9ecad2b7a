"""A client with one method a route."""

from slime.utils.http_utils import get, post


class Server:
    def __init__(self, host, port):
        self.base = f"http://{host}:{port}"

    async def _call(self, endpoint, payload=None):
        return await post(f"{self.base}/{endpoint}", payload or {})

    async def pause(self):
        await self._call("pause_generation")

    async def resume(self):
        await self._call("continue_generation")

    async def abort(self, rid=None):
        await self._call("abort_request", {"rid": rid} if rid else {"abort_all": True})

    async def healthy(self):
        await get(f"{self.base}/health_generate")
        return True


async def generate(args, sample, sampling_params):
    server = Server(args.sglang_router_ip, args.sglang_router_port)
    await server.pause()
    await server.abort()
    sample.metadata["healthy"] = await server.healthy()
    await server.resume()
    return sample
