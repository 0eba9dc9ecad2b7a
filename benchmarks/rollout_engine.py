"""Tokens a second of a whole rollout beside a raw client, on the same real vLLM server.

Numerator: tokens generated in a rollout over the wall time of `generate_rollout`: prompts from the data source, requests,
answers into samples, exact-match rewards, groups, accounting. Denominator: the same number of requests with the same
prompts and sampling, all at once, by bare aiohttp that reads tokens and logprobs. Every answer has `--tokens` tokens.
Rounds alternate; prints JSON with the median of the rounds' ratios.

    python benchmarks/rollout_engine.py [--tokens 64] [--rounds 30] [--model FOLDER --data FILE.jsonl]

The model and the prompts are the quick start's where none are given (`make demo-train` makes them).
"""

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

import aiohttp
from real_engine import serving

from vime.config.groups import GROUPS
from vime.config.option import options_of
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.groups import leaves
from vime.rollout.vllm_rollout import generate, generate_rollout
from vime.utils.processing_utils import load_tokenizer
from vime.utils.types import Sample

QUICKSTART = Path(__file__).parents[1] / "examples/quickstart_cpu/out"


async def fixed(args: argparse.Namespace, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """The default generate function, for answers of one length."""
    return await generate(args, sample, {**sampling_params, "ignore_eos": True})


def framework(args: argparse.Namespace, source: RolloutDataSourceWithBuffer, number: int) -> tuple[float, int]:
    began = time.perf_counter()
    samples = leaves(generate_rollout(args, number, source).samples)
    return time.perf_counter() - began, sum(sample.response_length for sample in samples)


async def raw(url: str, prompts: list[list[int]], tokens: int) -> tuple[float, int]:
    sampling = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "max_tokens": tokens, "logprobs": 1, "ignore_eos": True}
    sampling |= {"include_stop_str_in_output": True, "skip_special_tokens": False}

    async def one(session: aiohttp.ClientSession, prompt: list[int]) -> int:
        body = {"token_ids": prompt, "sampling_params": sampling, "output_mode": "text"}
        async with session.post(url, json=body) as response:
            choice = (await response.json())["choices"][0]
        log_probs = [entry["logprob"] for entry in choice["logprobs"]["content"]]
        assert len(log_probs) == len(choice["token_ids"])
        return len(choice["token_ids"])

    began = time.perf_counter()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        counts = await asyncio.gather(*(one(session, prompt) for prompt in prompts))
    return time.perf_counter() - began, sum(counts)


def arguments(given: argparse.Namespace, port: int) -> argparse.Namespace:
    """What the rollout function reads."""
    values = {option.name: option.default for group in GROUPS for option in options_of(group)}
    values |= {
        "hf_checkpoint": str(given.model),
        "prompt_data": str(given.data),
        "input_key": given.input_key,
        "label_key": "label",
    }
    values |= {"vllm_router_ip": "127.0.0.1", "vllm_router_port": port, "rollout_num_gpus": 1}
    values |= {
        "apply_chat_template": True,
        "rm_type": "exact_match",
        "custom_generate_function_path": "rollout_engine.fixed",
    }
    values |= {"rollout_batch_size": given.prompts, "n_samples_per_prompt": given.samples, "load": None}
    values |= {"rollout_max_response_len": given.tokens}
    return argparse.Namespace(**values)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=QUICKSTART / "warm")
    parser.add_argument("--data", type=Path, default=QUICKSTART / "train.jsonl")
    parser.add_argument("--input-key", default="prompt")
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    if not given.model.exists():
        parser.error(f"{given.model} does not exist; make it with: python examples/quickstart_cpu/prepare.py")
    with serving(given.model) as port:
        print(json.dumps(measure(given, port), indent=2))


def measure(given: argparse.Namespace, port: int) -> dict[str, float]:
    """Both, in turns."""
    args = arguments(given, port)
    source, same = RolloutDataSourceWithBuffer(args), RolloutDataSourceWithBuffer(args)
    tokenizer = load_tokenizer(str(given.model))
    url = f"http://127.0.0.1:{port}/inference/v1/generate"
    rounds = []
    for number in range(given.rounds + 1):
        samples = leaves(same.get_samples(given.prompts))
        prompts = [tokenizer.encode(sample.prompt, add_special_tokens=False) for sample in samples]
        ours, theirs = framework(args, source, number), asyncio.run(raw(url, prompts, given.tokens))
        rounds.append((ours[1] / ours[0], theirs[1] / theirs[0]))
    rounds = rounds[1:]  # the first opens connections and warms the server
    return {
        "requests": given.prompts * given.samples,
        "tokens": given.tokens,
        "vime_tokens_per_second": round(statistics.median(one for one, _ in rounds), 1),
        "aiohttp_tokens_per_second": round(statistics.median(other for _, other in rounds), 1),
        "ratio": round(statistics.median(one / other for one, other in rounds), 3),
    }


if __name__ == "__main__":
    main()
