"""A base class sends, a subclass knows the shape."""

from abc import ABC, abstractmethod

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Backend(ABC):
    def __init__(self, url):
        self.url = url

    @abstractmethod
    def request(self, ids, params): ...

    @abstractmethod
    def result(self, output): ...

    async def run(self, ids, params):
        return self.result(await post(self.url, self.request(ids, params)))


class NativeBackend(Backend):
    def request(self, ids, params):
        return {"input_ids": ids, "sampling_params": params, "return_logprob": True}

    def result(self, output):
        meta = output["meta_info"]
        return output["text"], [(token, logp) for logp, token, _ in meta["output_token_logprobs"]], meta["finish_reason"]["type"]


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    backend = NativeBackend(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate")
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    text, pairs, reason = await backend.run(ids, sampling_params)
    sample.response, sample.tokens = text, ids + [t for t, _ in pairs]
    sample.rollout_log_probs = [lp for _, lp in pairs]
    sample.metadata["reason"] = reason
    return sample
