"""The state of a stream is a dataclass that absorbs chunks."""

import json
from dataclasses import dataclass, field

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


@dataclass
class Progress:
    text: str = ""
    tokens: list = field(default_factory=list)
    logprobs: list = field(default_factory=list)
    meta: dict = field(default_factory=dict)
    chunks: int = 0

    def absorb(self, chunk):
        self.chunks += 1
        self.meta = chunk["meta_info"]
        self.text = chunk["text"]
        pairs = self.meta.get("output_token_logprobs") or []
        for logprob, token, _ in pairs[len(self.tokens):]:
            self.tokens.append(token)
            self.logprobs.append(logprob)

    @property
    def finished(self):
        return bool(self.meta.get("finish_reason"))


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    progress = Progress()
    async with http_utils._http_client.stream("POST", url, json={"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                progress.absorb(json.loads(line[6:]))
            if progress.finished or state.aborted:
                break
    if not progress.finished:
        sample.status = sample.Status.ABORTED
    else:
        sample.update_from_meta_info(args, progress.meta)
    sample.response, sample.tokens = progress.text, ids + progress.tokens
    sample.rollout_log_probs = progress.logprobs
    sample.metadata["chunks"] = progress.chunks
    return sample
