"""Each line is waited for with a limit; the parse is a static method."""

import asyncio
import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


class Reader:
    @staticmethod
    def decode(line):
        if not line or not line.startswith("data:"):
            return None
        payload = line.split(":", maxsplit=1)[1].strip()
        return None if payload == "[DONE]" else json.loads(payload)

    async def read(self, response, limit=5):
        iterator = response.aiter_lines().__aiter__()
        latest = None
        while True:
            try:
                line = await asyncio.wait_for(iterator.__anext__(), limit)
            except StopAsyncIteration:
                return latest
            latest = self.decode(line) or latest


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    async with http_utils._http_client.stream(
        "POST", url, json={"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    ) as response:
        latest = await Reader().read(response)
    sample.response = latest["text"]
    sample.rollout_log_probs = [p[0] for p in latest["meta_info"]["output_token_logprobs"]]
    sample.update_from_meta_info(args, latest["meta_info"])
    return sample
