"""A client class with a base, a property for the URL and hooks."""

import abc

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Client(abc.ABC):
    def __init__(self, args):
        self.args = args
        self.history = []

    @property
    def url(self):
        return f"http://{self.args.sglang_router_ip}:{self.args.sglang_router_port}/{self.route}"

    route = "generate"

    @abc.abstractmethod
    def build(self, ids, params): ...

    def on_answer(self, answer):
        self.history.append(answer["meta_info"]["completion_tokens"])
        return answer

    async def run(self, ids, params):
        return self.on_answer(await post(self.url, self.build(ids, params)))


class LogprobClient(Client):
    def build(self, ids, params):
        return {"input_ids": ids, "sampling_params": params, "return_logprob": True}

    def on_answer(self, answer):
        answer = super().on_answer(answer)
        self.pairs = answer["meta_info"]["output_token_logprobs"]
        return answer


async def generate(args, sample, sampling_params):
    client = LogprobClient(args)
    answer = await client.run(GenerateState(args).tokenizer.encode(sample.prompt), sampling_params)
    sample.response = answer["text"]
    sample.metadata["history"] = client.history
    sample.metadata["tokens"] = [p[1] for p in client.pairs]
    return sample
