"""Chunks are fed to an object that keeps the last state."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


class Progress:
    def __init__(self):
        self.text, self.meta, self.ids = "", {}, []

    def feed(self, chunk):
        self.text = chunk["text"]
        self.ids = chunk["output_ids"]
        self.meta = chunk["meta_info"]
        return self

    @property
    def done(self):
        return bool(self.meta.get("finish_reason"))


async def generate(args, sample, sampling_params):
    prompt = GenerateState(args).tokenizer.encode(sample.prompt)
    progress = Progress()
    client = http_utils._http_client
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    request = {"input_ids": prompt, "sampling_params": sampling_params, "stream": True}
    async with client.stream("POST", url, json=request) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data:") and not line.endswith("[DONE]"):
                progress.feed(json.loads(line[len("data:") :]))
    sample.tokens, sample.response = prompt + progress.ids, progress.text
    sample.metadata["done"] = progress.done
    sample.metadata["counts"] = [progress.meta["prompt_tokens"], progress.meta["completion_tokens"]]
    return sample
