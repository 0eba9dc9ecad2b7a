"""Worlds in which the demo's rollout code runs: one scripted engine that speaks SGLang's and vLLM's protocol.

A script is a list of turns (tokens, log probs, how it ended). A token is a byte, so that a character can straddle two
chunks of a stream.
"""

import contextlib
import importlib
import json
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# The fields of vLLM 0.32's GenerateRequest and SamplingParams that a client may send.
VLLM_BODY = {
    "request_id", "token_ids", "features", "content_parts", "sampling_params", "model", "return_token_ids",
    "output_mode", "stream", "stream_options", "cache_salt", "priority",
}  # fmt: skip
VLLM_SAMPLING = {
    "n", "presence_penalty", "frequency_penalty", "repetition_penalty", "temperature", "top_p", "top_k", "min_p", "seed",
    "stop", "stop_token_ids", "ignore_eos", "max_tokens", "min_tokens", "logprobs", "prompt_logprobs", "detokenize",
    "skip_special_tokens", "spaces_between_special_tokens", "include_stop_str_in_output", "structured_outputs",
    "logit_bias", "allowed_token_ids", "extra_args", "bad_words",
}  # fmt: skip


@dataclass(frozen=True)
class Turn:
    text: str
    finish: str = "stop"
    cached: int = 0
    drop_after: int | None = None

    @property
    def tokens(self) -> list[int]:
        return list(self.text.encode())

    @property
    def log_probs(self) -> list[float]:
        return [-0.5 - i / 8 for i in range(len(self.tokens))]


class Tokenizer:
    def encode(self, text, add_special_tokens=True):
        return list(text.encode())

    def __call__(self, text, add_special_tokens=True):
        return {"input_ids": self.encode(text)}

    def decode(self, ids):
        return bytes(ids).decode("utf-8", "replace")


@dataclass
class Engine:
    protocol: str
    script: list[Turn]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str] | None] = field(default_factory=list)

    def answer(self, url: str, body: dict[str, Any], headers=None) -> dict[str, Any]:
        turn = self._next(url, body, headers)
        if self.protocol == "sglang":
            return self._sglang(turn, body, len(turn.tokens), turn.finish)
        answer = {"request_id": "generate-tokens-1", "usage": self._usage(turn, body)}
        return {**answer, "choices": [self._choice(turn, 0, len(turn.tokens), turn.finish)]}

    def lines(self, url: str, body: dict[str, Any], headers=None) -> Iterator[str]:
        turn = self._next(url, body, headers)
        size = len(turn.tokens)
        if self.protocol == "vllm":
            yield ": keep-alive"
        for start in range(0, size, 2):
            if turn.drop_after is not None and start >= turn.drop_after:
                raise ConnectionError("dropped")
            end = min(start + 2, size)
            finish = turn.finish if end == size else None
            if self.protocol == "sglang":
                yield "data: " + json.dumps(self._sglang(turn, body, end, finish))
            else:
                yield "data: " + json.dumps({"usage": None, "choices": [self._choice(turn, start, end, finish)]})
            yield ""
        if (body.get("stream_options") or {}).get("include_usage"):
            yield "data: " + json.dumps({"usage": self._usage(turn, body), "choices": []})
        yield "data: [DONE]"

    def _next(self, url: str, body: dict[str, Any], headers) -> Turn:
        route = "/" + url.split("://")[1].split("/", 1)[1]
        if self.protocol == "sglang":
            assert route == "/generate", route
        else:
            assert route == "/inference/v1/generate", route
            assert set(body) <= VLLM_BODY, f"not fields of vLLM's request: {set(body) - VLLM_BODY}"
            sampling = body["sampling_params"]
            assert set(sampling) <= VLLM_SAMPLING, f"not sampling parameters: {set(sampling) - VLLM_SAMPLING}"
            assert body["token_ids"] and sampling["max_tokens"] >= 1
        self.requests.append(body)
        self.headers.append(headers)
        return self.script[min(len(self.requests), len(self.script)) - 1]

    def _sglang(self, turn: Turn, body, upto: int, finish: str | None) -> dict[str, Any]:
        pairs = [[lp, token, None] for lp, token in zip(turn.log_probs[:upto], turn.tokens, strict=False)]
        meta = {"prompt_tokens": len(body["input_ids"]), "completion_tokens": upto, "cached_tokens": turn.cached}
        meta |= {"weight_version": "3", "finish_reason": finish and {"type": finish}, "output_token_logprobs": pairs}
        return {"text": Tokenizer().decode(turn.tokens[:upto]), "output_ids": turn.tokens[:upto], "meta_info": meta}

    def _choice(self, turn: Turn, start: int, end: int, finish: str | None) -> dict[str, Any]:
        pairs = zip(turn.tokens[start:end], turn.log_probs[start:end], strict=True)
        content = [{"token_id": token, "logprob": lp, "rank": 1, "top_logprobs": []} for token, lp in pairs]
        spans = [{"version": "3", "start": 0, "end": end}] if finish else None
        choice = {"index": 0, "token_ids": turn.tokens[start:end], "logprobs": {"content": content}}
        return {**choice, "finish_reason": finish, "stop_reason": None, "weight_versions": spans}

    @staticmethod
    def _usage(turn: Turn, body) -> dict[str, Any]:
        details = {"cached_tokens": turn.cached} if turn.cached else None
        prompt, made = len(body["token_ids"]), len(turn.tokens)
        return {"prompt_tokens": prompt, "completion_tokens": made, "prompt_tokens_details": details}


class Client:
    """httpx's AsyncClient, as far as the demo's code uses it."""

    def __init__(self, engine: Engine):
        self.engine = engine

    async def post(self, url, json=None, headers=None):
        return Answer(self.engine.answer(url, json, headers))

    @contextlib.asynccontextmanager
    async def stream(self, method, url, json=None, headers=None):
        yield Answer(None, self.engine.lines(url, json, headers))


class Answer:
    def __init__(self, value, lines=()):
        self.value, self.lines = value, lines

    def raise_for_status(self):
        return self

    async def aread(self):
        return json.dumps(self.value).encode()

    async def aiter_lines(self):
        for line in self.lines:
            yield line


def arguments(**changes) -> SimpleNamespace:
    both = {
        "router_ip": "127.0.0.1", "router_port": 3000, "server_concurrency": 8, "speculative_algorithm": None,
        "speculative_config": None,
    }  # fmt: skip
    args = {f"{engine}_{key}": value for engine in ("sglang", "vllm") for key, value in both.items()}
    args |= {"hf_checkpoint": "m", "rollout_num_gpus": 2, "rollout_num_gpus_per_engine": 1, "router_policy": None}
    args |= {"rollout_max_response_len": 64, "rollout_temperature": 0.8, "rollout_top_p": 1.0, "rollout_top_k": -1}
    args |= {"rollout_stop": None, "rollout_stop_token_ids": None, "rollout_seed": 1, "partial_rollout": False}
    args |= {"custom_generate_function_path": None, "custom_rm_path": None, "rm_type": "math", "reward_key": None}
    args |= {"rollout_max_context_len": None, "context_parallel_size": 1, "max_tokens_per_gpu": 2048}
    args |= {"rollout_batch_size": 2, "n_samples_per_prompt": 2}
    return SimpleNamespace(**{**args, **changes})


@contextlib.contextmanager
def world(tree: Path, package: str, engine: Engine, *folders: str):
    """Imports from `tree` (and its `folders`) with nothing installed but this double; gives the importing function."""
    before, path, writes = dict(sys.modules), list(sys.path), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # the tree is a repository that other tests ask for its state
    # Modules that lie in a folder by themselves have names that other tests may have taken.
    own = {package, *(file.stem for folder in folders for file in (tree / folder).glob("*.py"))}
    for name in [name for name in before if name.partition(".")[0] in own]:
        del sys.modules[name]
    errors = {"TransportError": ConnectionError, "HTTPStatusError": type("HTTPStatusError", (Exception,), {})}
    sys.modules["httpx"] = _module("httpx", AsyncClient=Client, **errors)
    auto = SimpleNamespace(from_pretrained=lambda *a, **k: Tokenizer())
    none = SimpleNamespace(from_pretrained=_no_processor)
    sys.modules["transformers"] = _module("transformers", AutoTokenizer=auto, AutoProcessor=none)
    sys.path[:0] = [str(tree), *(str(tree / folder) for folder in folders)]
    try:
        importlib.import_module(f"{package}.utils.http_utils")._http_client = Client(engine)
        yield importlib.import_module
    finally:
        sys.path[:], sys.dont_write_bytecode = path, writes
        for name in set(sys.modules) - set(before):
            del sys.modules[name]
        sys.modules.update(before)


def _no_processor(*args, **kwargs):
    raise OSError("a model of text alone")


def _module(name: str, **attributes) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    return module
