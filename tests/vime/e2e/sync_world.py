"""What the tests of weight sync on real servers share: tiny models, servers, and what a model without an engine says."""

import copy
import importlib.util
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from vime.backends.megatron_utils.update_weight.engines import Transport
from vime.backends.megatron_utils.update_weight.failures import Holds, WeightSyncFailed, WrongWeights
from vime.backends.megatron_utils.update_weight.plan import describe, plan_weights
from vime.backends.megatron_utils.update_weight.probe import ProbeFailed, check_probe, probe
from vime.backends.megatron_utils.update_weight.session import SyncReport, WeightSync, compare
from vime.backends.megatron_utils.update_weight.transports.disk import DiskTransport
from vime.backends.megatron_utils.update_weight.transports.gloo import GlooTransport
from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.launch import engine_launch
from vime.backends.vllm_utils.server import EngineServer
from vime.backends.vllm_utils.weight_transfer.digests import tensor_digest
from vime.config.packages import schema
from vime.config.resolve import Config, resolve
from vime.utils.network import get_free_port

__all__ = [
    "Holds",
    "ProbeFailed",
    "WeightSyncFailed",
    "WrongWeights",
    "check_probe",
    "compare",
    "copy",
    "probe",
    "tensor_digest",
]

VOCAB = 128
BOUNDS = SimpleNamespace(mean=1e-5, max=1e-3)
"""How far float32 logprobs may be apart."""

if importlib.util.find_spec("vllm") is None:
    raise ModuleNotFoundError("vllm")


def transport(way: str, root: Path) -> Transport:
    """The transport of that name; `shared` is gloo's to engines on this host."""
    if way == "disk":
        return DiskTransport(root / "published")
    return GlooTransport(timeout=60, share=way == "shared")


def tiny_model(folder: Path, tied: bool, seed: int) -> Qwen3ForCausalLM:
    """A Qwen3 with weights large enough that two seeds answer differently, in float32, saved to `folder`."""
    shape = {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
    }
    config = Qwen3Config(
        vocab_size=VOCAB, intermediate_size=128, max_position_embeddings=256, tie_word_embeddings=tied, **shape
    )
    return _drawn(Qwen3ForCausalLM(config), folder, seed, 0.3)


def biased_model(folder: Path, seed: int) -> Qwen2ForCausalLM:
    """A Qwen2, whose projections have a bias; so wide that vLLM is handed them one by one."""
    shape = {"hidden_size": 2048, "num_hidden_layers": 1, "num_attention_heads": 32, "num_key_value_heads": 32}
    config = Qwen2Config(
        vocab_size=VOCAB, intermediate_size=128, max_position_embeddings=256, tie_word_embeddings=False, **shape
    )
    return _drawn(Qwen2ForCausalLM(config), folder, seed, 0.05)


def _drawn(model: torch.nn.Module, folder: Path, seed: int, scale: float) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(seed)
    model = model.float().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(1 + 0.1 * noise if parameter.dim() == 1 else scale * noise)
    model.save_pretrained(folder)
    return model


def prompt(seed: int, length: int = 70) -> list[int]:
    """Random tokens."""
    return torch.randint(0, VOCAB, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def engine_config(folder: Path, *more: str) -> Config:
    """The configuration of a run whose engines serve the model in `folder`."""
    flags = [
        f"--hf-checkpoint={folder}",
        "--device=cpu",
        "--actor-num-gpus-per-node=1",
        "--rollout-batch-size=1",
        "--num-rollout=1",
    ]
    flags += ["--prompt-data=x", "--rollout-max-response-len=8", "--vllm-skip-tokenizer-init", *more]
    return resolve(flags, [], schema())


@contextmanager
def servers(config: Config, count: int, logs: Path) -> Iterator[list[EngineServer]]:
    """`count` healthy servers, gone afterwards."""
    ports = [get_free_port(24_000 + 100 * number) for number in range(count)]
    running = [
        EngineServer(engine_launch(config, port=port, rank=rank), logs / f"{rank}.log")
        for rank, port in enumerate(ports)
    ]
    try:
        for server in running:
            server.start()
        for server in running:
            server.wait_healthy(180)
        yield running
    finally:
        for server in running:
            server.stop()


def sync_to(
    urls: Sequence[str], transport: Transport, model: torch.nn.Module, version: str, **options: object
) -> SyncReport:
    """One sync of all weights of `model`, over a connection of its own."""
    return send(urls, transport, weights(model), version, **options)


def send(
    urls: Sequence[str],
    transport: Transport,
    tensors: Iterable[tuple[str, torch.Tensor]],
    version: str,
    planned: Sequence[tuple[str, torch.Tensor]] | None = None,
    **options: object,
) -> SyncReport:
    """One sync of `tensors`, planned as themselves or as `planned`."""
    sync = WeightSync(urls, transport, **options)
    try:
        sync.connect()
        return sync.update(tensors, plan_weights(describe(planned or tensors), 50_000), version)
    finally:
        sync.close()


def killing(
    tensors: Sequence[tuple[str, torch.Tensor]], kill: Callable[[], None], after: int
) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors; `kill` is called before the one with number `after`."""
    for number, pair in enumerate(tensors):
        if number == after:
            kill()
        yield pair


def killed_trainer(url: str, folder: Path, version: str, after: int) -> None:
    """A trainer in a process of its own that syncs the model in `folder` and is killed before the tensor `after`."""
    context = multiprocessing.get_context("spawn")
    trainer = context.Process(target=_be_killed, args=(url, folder, version, after))
    trainer.start()
    trainer.join(120)
    assert trainer.exitcode == -signal.SIGKILL


def _be_killed(url: str, folder: Path, version: str, after: int) -> None:
    tensors = weights(Qwen3ForCausalLM.from_pretrained(folder))
    send(
        [url], GlooTransport(), killing(tensors, partial(os.kill, os.getpid(), signal.SIGKILL), after), version, tensors
    )


def weights(model: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Named weights in Hugging Face form, tied ones once."""
    return list(model.named_parameters())


def engine_logprobs(url: str, tokens: Sequence[int]) -> list[float]:
    """What the engine at `url` says of each token but the first."""
    sampling = {"temperature": 0, "max_tokens": 1, "prompt_logprobs": 0, "detokenize": False}
    answer = EngineControl(url).call(
        "POST", "/inference/v1/generate", {"token_ids": list(tokens), "sampling_params": sampling}
    )
    return [row[str(token)]["logprob"] for row, token in zip(answer["prompt_logprobs"][1:], tokens[1:], strict=True)]


def greedy(url: str, tokens: Sequence[int], count: int = 8) -> dict:
    """A greedy answer with logprobs; reads the prefix cache, as a rollout does."""
    sampling = {"temperature": 0, "max_tokens": count, "logprobs": 1, "detokenize": False, "ignore_eos": True}
    body = {"token_ids": list(tokens), "sampling_params": sampling}
    answer = EngineControl(url).call("POST", "/inference/v1/generate", body)
    choice = answer["choices"][0]
    return {
        "tokens": choice["token_ids"],
        "logprobs": [entry["logprob"] for entry in choice["logprobs"]["content"]],
        "version": choice["weight_versions"][-1]["version"],
        "cached": (answer["usage"].get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
    }


def model_logprobs(model: torch.nn.Module, tokens: Sequence[int]) -> list[float]:
    """What the model itself says of each token but the first."""
    with torch.no_grad():
        logprobs = model(torch.tensor([list(tokens)])).logits[0].log_softmax(-1)
    return [logprobs[place, token].item() for place, token in enumerate(tokens[1:])]


def difference(url: str, model: torch.nn.Module, tokens: Sequence[int]) -> tuple[float, float]:
    """Mean and greatest absolute difference between the engine's logprobs and the model's."""
    gaps = [abs(a - b) for a, b in zip(engine_logprobs(url, tokens), model_logprobs(model, tokens), strict=True)]
    return sum(gaps) / len(gaps), max(gaps)


def log_probs_of(model: torch.nn.Module) -> Callable:
    """The trainer's part of a probe."""
    return lambda sequences, lengths: [
        model_logprobs(model, tokens)[len(tokens) - 1 - length :]
        for tokens, length in zip(sequences, lengths, strict=True)
    ]
