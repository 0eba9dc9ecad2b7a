"""A synchronous helper digests each line and keeps its own state."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


class Sink:
    def __init__(self):
        self.text, self.pairs, self.meta = "", [], None

    def feed(self, line):
        if not line.startswith("data:"):
            return False
        body = line[5:].lstrip()
        if body.startswith("[DONE]"):
            return True
        doc = json.loads(body)
        self.text = doc["text"]
        self.meta = doc["meta_info"]
        self.pairs = self.meta["output_token_logprobs"]
        return False


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    sink = Sink()
    async with http_utils._http_client.stream("POST", url, json={"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}) as response:
        async for line in response.aiter_lines():
            if sink.feed(line):
                break
    sample.response = sink.text
    sample.tokens = ids + [p[1] for p in sink.pairs]
    sample.update_from_meta_info(args, sink.meta)
    return sample
