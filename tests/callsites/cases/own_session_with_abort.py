"""An adapter that talks to the engine by itself and aborts its request by id when it is cancelled."""

import aiohttp

from slime.rollout.sglang_rollout import GenerateState


class Adapter:
    def __init__(self, base_url):
        self.sglang_url = base_url.rstrip("/")

    async def call(self, ids, sampling_params, rid):
        payload = {"rid": rid, "input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{self.sglang_url}/generate", json=payload) as resp:
                data = await resp.json()
        meta = data.get("meta_info") or {}
        kind = (meta.get("finish_reason") or {}).get("type", "stop")
        return [t[1] for t in meta.get("output_token_logprobs") or []], data.get("text", ""), kind

    async def abort(self, rid):
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{self.sglang_url}/abort_request", json={"rid": rid}) as resp:
                await resp.text()


async def generate(args, sample, sampling_params):
    adapter = Adapter(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/")
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    tokens, text, kind = await adapter.call(ids, sampling_params, rid="r-1")
    if kind == "abort":
        await adapter.abort("r-1")
    sample.tokens, sample.response = ids + tokens, text
    return sample
