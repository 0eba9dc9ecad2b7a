"""A class keeps the address and sends for others."""

from dataclasses import dataclass

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@dataclass
class Engine:
    url: str
    retries: int = 3

    async def ask(self, body):
        return await post(self.url, body, max_retries=self.retries)


class Turns:
    def __init__(self, args, tokenizer):
        self.engine = Engine(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate")
        self.tokenizer = tokenizer
        self.last = None

    async def run(self, prompt, params):
        body = {"input_ids": self.tokenizer.encode(prompt)}
        body["sampling_params"] = params
        body["return_logprob"] = True
        self.last = await self.engine.ask(body)
        return self.text()

    def text(self):
        return self.last["text"]


async def generate(args, sample, sampling_params):
    turns = Turns(args, GenerateState(args).tokenizer)
    sample.response = await turns.run(sample.prompt, sampling_params)
    sample.rollout_log_probs = [item[0] for item in turns.last["meta_info"]["output_token_logprobs"]]
    return sample
