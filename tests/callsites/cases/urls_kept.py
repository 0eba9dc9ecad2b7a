"""URLs are made once: a cached function, a cached property, a class that keeps them by name."""

from functools import cached_property, lru_cache

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@lru_cache
def engine_url(host, port):
    return f"http://{host}:{port}/generate"


class Pool:
    def __init__(self, args):
        self.args = args
        self.urls = {"policy": f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"}

    @cached_property
    def default(self):
        return self.urls["policy"]


async def generate(args, sample, sampling_params):
    body = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    pool = Pool(args)
    outputs = [
        await post(engine_url(args.sglang_router_ip, args.sglang_router_port), body),
        await post(pool.default, body),
        await post(pool.urls["policy"], body),
        await post(pool.urls.get("reference", pool.default), body),
    ]
    sample.metadata["texts"] = [output["text"] for output in outputs]
    return sample
