"""The base class makes the request, the subclass says where to; parsing is static."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Caller:
    logprobs = True

    def __init__(self, args):
        self.args = args

    def url(self):
        raise NotImplementedError

    def request(self, ids, params):
        return {"input_ids": ids, "sampling_params": params, "return_logprob": self.logprobs}

    async def __call__(self, ids, params):
        return self.parse(await post(self.url(), self.request(ids, params)))

    @staticmethod
    def parse(answer):
        return answer["text"], [pair[1] for pair in answer["meta_info"].get("output_token_logprobs", [])]


class RouterCaller(Caller):
    def url(self):
        return f"http://{self.args.sglang_router_ip}:{self.args.sglang_router_port}/generate"


class Quiet(RouterCaller):
    def request(self, ids, params):
        body = super().request(ids, params)
        del body["return_logprob"]
        return body


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    sample.response, tokens = await RouterCaller(args)(ids, sampling_params)
    sample.tokens = ids + tokens
    sample.metadata["quiet"] = await Quiet(args)(ids, sampling_params)
    return sample
