"""What a streamed answer costs the rollout's client, by its length, beside upstream's way of rebuilding it at each chunk.

Numerator: CPU seconds (user and system, of this process alone) from the request to the finished sample, for an answer of
256 to 8,192 tokens in chunks of one token. The server is a process of its own that writes bytes made beforehand, in vLLM's
shape; a tokenizer of bytes decodes. `ours` is vime.rollout.vllm_streaming_rollout.generate_streaming; `rebuilt` reads each
chunk as the whole answer so far and makes the sample's lists anew, as upstream's module and its translation do. Prints JSON:
the median of `--rounds` for each length, and the slope of the least-squares line through their logarithms. The exit status
is 1 where the slope of `ours` is above 1.15.
"""

import argparse
import asyncio
import json
import math
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from instant_server import instant_server

from vime.backends.vllm_utils.seam import AnswerStream
from vime.rollout import vllm_rollout
from vime.rollout.vllm_streaming_rollout import generate_streaming
from vime.utils import http_utils
from vime.utils.types import Sample

LENGTHS = (256, 512, 1024, 2048, 4096, 8192)
BOUND = 1.15
PROMPT = "p" * 500
Generate = Callable[[argparse.Namespace, Sample, dict], Awaitable[Sample]]


class Bytes:
    """A token a byte."""

    eos_token_id = 0

    def encode(self, text: str, **_: object) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int], **_: object) -> str:
        return bytes(ids).decode("utf-8", "replace")


def stream_of(tokens: int) -> bytes:
    """An answer of so many tokens, a chunk each."""
    events = []
    for i in range(tokens):
        last, token = i + 1 == tokens, 97 + i % 26
        entry = {"token_id": token, "logprob": -1.2345678 - i / 100000, "rank": 1}
        choice = {"index": 0, "finish_reason": "stop" if last else None, "stop_reason": None, "token_ids": [token]}
        choice |= {"routed_experts": None, "sampling_mask": None}
        choice["weight_versions"] = [{"version": "1", "start": 0, "end": tokens}] if last else None
        choice["logprobs"] = {"content": [{**entry, "top_logprobs": [entry]}]}
        events.append(json.dumps({"request_id": "generate-tokens-0", "usage": None, "choices": [choice]}))
    usage = {"prompt_tokens": len(PROMPT), "completion_tokens": tokens, "prompt_tokens_details": None}
    events += [json.dumps({"request_id": "generate-tokens-0", "usage": usage, "choices": []}), "[DONE]"]
    return "".join(f"data: {one}\n\n" for one in events).encode()


def answers_of() -> dict[int, bytes]:
    return {tokens: stream_of(tokens) for tokens in LENGTHS}


def by_length(path: str, body: bytes) -> int:
    return json.loads(body)["sampling_params"]["max_tokens"]


async def rebuilt(args: argparse.Namespace, sample: Sample, params: dict) -> Sample:
    """The whole answer so far, and lists anew, at each chunk."""
    state = vllm_rollout.GenerateState(args)
    prompt = state.tokenizer.encode(sample.prompt)
    body = {"input_ids": prompt, "sampling_params": params, "return_logprob": True, "stream": True}
    answers = AnswerStream(body, state.tokenizer)
    url = f"http://{args.vllm_router_ip}:{args.vllm_router_port}/inference/v1/generate"
    async with http_utils._http_client.stream("POST", url, json=answers.request) as response:
        async for line in answers.lines(response.aiter_lines()):
            if not line.startswith("data:") or line.endswith("[DONE]"):
                continue
            answer = answers.read(json.loads(line[len("data:") :]))
            pairs = answer["meta_info"]["output_token_logprobs"]
            sample.tokens, sample.response, sample.response_length = list(prompt), "", 0
            sample.rollout_log_probs = sample.loss_mask = None
            sample.append_response_tokens(
                args,
                tokens=[pair[1] for pair in pairs],
                log_probs=[pair[0] for pair in pairs],
                meta_info=answer["meta_info"],
                text=answer["text"],
            )
    return sample


async def seconds(args: argparse.Namespace, generate: Generate, tokens: int) -> float:
    sample, began = Sample(prompt=PROMPT), time.process_time()
    await generate(args, sample, {"max_new_tokens": tokens, "no_stop_trim": True})
    spent = time.process_time() - began
    if sample.response_length != tokens or sample.status is not Sample.Status.COMPLETED:
        raise RuntimeError(f"{sample.response_length} tokens of {tokens}: {sample.status}")
    return spent


def slope(points: dict[int, float]) -> float:
    """Of the least-squares line through (log length, log seconds)."""
    return statistics.linear_regression([*map(math.log, points)], [*map(math.log, points.values())]).slope


async def measure(args: argparse.Namespace, generate: Generate, rounds: int) -> dict:
    await seconds(args, generate, LENGTHS[0])
    medians = {n: statistics.median([await seconds(args, generate, n) for _ in range(rounds)]) for n in LENGTHS}
    return {"cpu_ms": {n: round(1000 * s, 2) for n, s in medians.items()}, "slope": round(slope(medians), 3)}


def arguments(port: int) -> argparse.Namespace:
    """What a rollout function reads."""
    return argparse.Namespace(
        hf_checkpoint="tiny",
        vllm_router_ip="127.0.0.1",
        vllm_router_port=port,
        vllm_server_concurrency=8,
        vllm_speculative_config=None,
        rollout_num_engines=1,
        rollout_temperature=1.0,
        rollout_top_p=1.0,
        rollout_top_k=-1,
        rollout_max_response_len=8192,
        rollout_stop=None,
        rollout_stop_token_ids=None,
        rollout_skip_special_tokens=True,
        use_rollout_routing_replay=False,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    vllm_rollout.load_tokenizer, vllm_rollout.load_processor = (lambda *_, **__: Bytes()), (lambda *_, **__: None)
    ways = {"ours": generate_streaming, "rebuilt": rebuilt}
    with instant_server(answers_of, (), by_length, "text/event-stream") as base:
        args = arguments(urlsplit(base).port)
        results = {name: asyncio.run(measure(args, way, rounds)) for name, way in ways.items()}
    print(json.dumps({"bound": BOUND, **results}, indent=2))
    return 0 if results["ours"]["slope"] <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
