"""The URL is a property of an object, the path an attribute of its class, and the base a default."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Engine:
    path = "/generate"

    def __init__(self, host, port=1):
        self.host, self.port = host, port

    @property
    def url(self):
        return f"http://{self.host}:{self.port}{self.path}"

    async def complete(self, ids, params, url=None):
        return await post(url or self.url, {"input_ids": ids, "sampling_params": params})


async def generate(args, sample, sampling_params):
    engine = Engine(args.sglang_router_ip)
    output = await engine.complete(GenerateState(args).tokenizer.encode(sample.prompt), sampling_params)
    sample.response = output["text"]
    return sample
