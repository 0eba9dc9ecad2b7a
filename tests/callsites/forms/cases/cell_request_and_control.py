"""One function sends to whatever route it is told."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Router:
    def __init__(self, args):
        self.root = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"

    async def send(self, route, body):
        return await post(self.root + route, body)


async def generate(args, sample, sampling_params):
    router = Router(args)
    await router.send("/pause_generation", {"mode": "retract"})
    await router.send("/continue_generation", {})
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await router.send("/generate", {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    await router.send("/abort_request", {"abort_all": True})
    sample.response = out["text"]
    sample.metadata["n"] = len(out["meta_info"]["output_token_logprobs"])
    return sample
