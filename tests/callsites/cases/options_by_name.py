"""Options of the engine are read under names that are put together."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

PREFIX = "sglang"


class SGLangCaller:
    """Calls SGLang; the SGLANG_DEBUG variable makes it verbose."""

    def __init__(self, args):
        self.host = getattr(args, "sglang_" + "router_ip")
        self.port = getattr(args, f"{PREFIX}_router_port")

    @property
    def sglang_url(self):
        return f"http://{self.host}:{self.port}/generate"


async def call_sglang(caller: SGLangCaller, ids, params):
    return await post(caller.sglang_url, {"input_ids": ids, "sampling_params": params})


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    output = await call_sglang(SGLangCaller(args), ids, sampling_params)
    sample.response = output["text"]
    return sample
