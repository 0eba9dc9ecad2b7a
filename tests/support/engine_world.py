"""What the tests of engines share: a configuration of a small run on a CPU, a vLLM that starts at once, processes."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vime.config.resolve import Config, resolve
from vime.config.schema import Schema, own_options

FAKE_VLLM, FAKE_ROUTER = (Path(__file__).parent / name for name in ("fake_vllm", "fake_router"))
QWEN3 = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
}


def config_of(folder: Path, *words: str, schema: Schema | None = None, **model: object) -> Config:
    """The configuration of a small run on a CPU; `model` changes the model's."""
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text(json.dumps({**QWEN3, **model}))
    (folder / "data.jsonl").write_text("{}\n")
    base = ["--device", "cpu", "--hf-checkpoint", str(folder / "model"), "--prompt-data", str(folder / "data.jsonl")]
    base += ["--rollout-batch-size", "4", "--num-rollout", "1", "--rollout-max-context-len", "128"]
    base += ["--actor-num-gpus-per-node", "1"]
    return resolve([*base, *words], [], schema or Schema(own_options()))


def use_fake_vllm(monkeypatch: pytest.MonkeyPatch, faults: str = "", router: bool = True) -> None:
    """From here on servers are of the fake vLLM, with `faults`, and, with `router`, of the fake router."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [FAKE_VLLM, FAKE_ROUTER] if router else [FAKE_VLLM])))
    monkeypatch.setenv("FAKE_VLLM", faults)


def eventually(true: Callable[[], object], seconds: float = 10.0) -> bool:
    """Whether `true` comes to hold within `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return False


def runs(pid: int | None) -> bool:
    """Whether the process runs; one that ended and was not reaped does not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[0] not in "ZX" or int(fields[17]) > 1
    except OSError:
        return False


def environment(**changes: str) -> dict[str, str]:
    """This process's environment with `changes`."""
    return {**os.environ, **changes}
