"""What a request costs the rollout's client, beside bare aiohttp and beside upstream's way with httpx.

Numerators: CPU milliseconds (user and system, of the client's process alone) a request, and requests a second. One
request is built from 500 prompt tokens, sent, answered with tokens and their logprobs, and read into two lists: ids and
logprobs. The server is a process of its own that answers at once from bytes made beforehand, in vLLM's shape or in
SGLang's. `sample` also appends to a Sample. Prints JSON; a ratio is to bare aiohttp in the same round, median of rounds.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable

import aiohttp
from instant_server import instant_server

from vime.backends.vllm_utils.seam import generate_request, read_answer
from vime.rollout.engine_call import Patience, ask
from vime.utils.http_client import HttpClient
from vime.utils.types import Sample

PROMPT = list(range(500))
SAMPLING = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "max_new_tokens": 256, "no_stop_trim": True}
Send = Callable[[int], Awaitable[tuple[list[int], list[float]]]]


def vllm_answer(tokens: int) -> bytes:
    def entry(i: int) -> dict:
        word = f"tok{i}"
        one = {"token": word, "logprob": -1.2345678 - i / 1000, "bytes": list(word.encode())}
        return one | {"top_logprobs": [dict(one)]}

    choice = {"index": 0, "finish_reason": "stop", "stop_reason": None, "token_ids": list(range(1, tokens + 1))}
    choice |= {"text": "tok " * tokens, "weight_versions": [{"version": "1", "start": 0, "end": tokens}]}
    choice["logprobs"] = {"content": [entry(i) for i in range(tokens)]}
    usage = {"prompt_tokens": len(PROMPT), "completion_tokens": tokens, "prompt_tokens_details": None}
    return json.dumps({"request_id": "generate-tokens-0", "usage": usage, "choices": [choice]}).encode()


def sglang_answer(tokens: int) -> bytes:
    pairs = [[-1.2345678 - i / 1000, i + 1, None] for i in range(tokens)]
    meta = {"id": "0", "finish_reason": {"type": "stop", "matched": 1}, "prompt_tokens": len(PROMPT)}
    meta |= {"completion_tokens": tokens, "cached_tokens": 0, "output_token_logprobs": pairs}
    return json.dumps({"text": "tok " * tokens, "output_ids": list(range(1, tokens + 1)), "meta_info": meta}).encode()


def answers_of(sizes: list[int]) -> dict[str, bytes]:
    return {f"/vllm/{n}": vllm_answer(n) for n in sizes} | {f"/sglang/{n}": sglang_answer(n) for n in sizes}


def by_path(path: str, body: bytes) -> str:
    return path


def ours(base: str, client: HttpClient, into_sample: bool) -> Send:
    """As `vime.rollout.vllm_rollout.generate` does it."""
    patience = Patience()

    async def send(tokens: int) -> tuple[list[int], list[float]]:
        request = generate_request({"input_ids": PROMPT, "sampling_params": SAMPLING, "return_logprob": True})
        url = f"{base}/vllm/{tokens}"
        answer = read_answer(await ask(client.post, url, request, headers=None, patience=patience, sample=0), request)
        if not into_sample:
            return answer.token_ids, answer.log_probs
        sample = Sample(prompt="p", tokens=PROMPT)
        sample.append_response_tokens(
            tokens=answer.token_ids, log_probs=answer.log_probs, meta_info=answer["meta_info"], text=answer.text
        )
        return sample.tokens[len(PROMPT) :], sample.rollout_log_probs

    return send


def bare(base: str, session: aiohttp.ClientSession) -> Send:
    """The same request, written by hand."""

    async def send(tokens: int) -> tuple[list[int], list[float]]:
        sampling = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "max_tokens": 256, "logprobs": 1}
        payload = {"token_ids": PROMPT, "sampling_params": sampling, "output_mode": "text"}
        async with session.post(f"{base}/vllm/{tokens}", json=payload) as response:
            choice = (await response.json())["choices"][0]
        return choice["token_ids"], [entry["logprob"] for entry in choice["logprobs"]["content"]]

    return send


def upstreams(base: str, client) -> Send:
    """httpx, the body decoded with json, ids and logprobs read from the pairs: SGLang's protocol."""

    async def send(tokens: int) -> tuple[list[int], list[float]]:
        payload = {"input_ids": PROMPT, "sampling_params": dict(SAMPLING), "return_logprob": True}
        response = await client.post(f"{base}/sglang/{tokens}", json=payload)
        try:
            response.raise_for_status()
            pairs = json.loads(await response.aread())["meta_info"]["output_token_logprobs"]
        finally:
            await response.aclose()
        return [pair[1] for pair in pairs], [pair[0] for pair in pairs]

    return send


async def cost(send: Send, tokens: int, requests: int, at_once: int) -> dict[str, float]:
    left = iter(range(requests))

    async def worker() -> None:
        for _ in left:
            ids, log_probs = await send(tokens)
            assert len(ids) == len(log_probs) == tokens

    await asyncio.gather(*(send(tokens) for _ in range(at_once)))
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {"cpu_ms_per_request": 1000 * cpu / requests, "requests_per_second": requests / wall}


async def compare(base: str, options: argparse.Namespace) -> dict:
    client = HttpClient(max_connections=options.at_once)
    result: dict[str, dict] = {}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=options.at_once)) as session:
        ways = {
            "aiohttp": bare(base, session),
            "vime": ours(base, client, False),
            "vime_sample": ours(base, client, True),
        }
        try:
            import httpx

            peer = httpx.AsyncClient(
                limits=httpx.Limits(max_connections=options.at_once), timeout=httpx.Timeout(None), trust_env=False
            )
            ways["upstream_httpx"] = upstreams(base, peer)
        except ImportError:
            result["upstream_httpx"] = {}
        for tokens in options.tokens:
            rounds: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
            for _ in range(options.rounds):
                for name, send in ways.items():
                    many = options.requests // (4 if name == "upstream_httpx" else 1)
                    rounds[name].append(await cost(send, tokens, many, options.at_once))
            for name, found in rounds.items():
                ratios = [
                    one["cpu_ms_per_request"] / raw["cpu_ms_per_request"]
                    for one, raw in zip(found, rounds["aiohttp"], strict=True)
                ]
                middle = {key: round(statistics.median(one[key] for one in found), 4) for key in found[0]}
                middle["cpu_ratio_to_aiohttp"] = round(statistics.median(ratios), 3)
                result.setdefault(name, {})[f"{tokens} tokens"] = middle
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 256])
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=64)
    options = parser.parse_args()
    with instant_server(answers_of, (options.tokens,), by_path, "application/json") as base:
        found = asyncio.run(compare(base, options))
    print(json.dumps({"at_once": options.at_once, "prompt_tokens": len(PROMPT), "clients": found}, indent=2))


if __name__ == "__main__":
    main()
