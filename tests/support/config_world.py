"""What the tests of the configuration share: a model's folder, a file that resolves, fake packages, the command."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from vime.commands.train import rules_of_a_run
from vime.config.problems import ConfigError
from vime.config.resolve import Config, resolve
from vime.config.schema import NotInstalled, Package, Schema, own_options
from vime.observability.run_log import RunLog
from vime.observability.trace_utils import trace_event
from vime.utils.types import Sample

QWEN3 = {
    "model_type": "qwen3",
    "vocab_size": 128,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
}

ROOT = Path(__file__).parents[2]

VLLM = {
    "vllm/__init__.py": "",
    "vllm/utils/__init__.py": "",
    "vllm/utils/argparse_utils.py": "import argparse\nclass FlexibleArgumentParser(argparse.ArgumentParser): pass\n",
    "vllm/entrypoints/__init__.py": "",
    "vllm/entrypoints/launchers/__init__.py": "",
    "vllm/engine/__init__.py": "",
    "vllm/engine/arg_utils.py": "",
    "vllm/entrypoints/launchers/cli_args.py": """
import argparse, json, os, pathlib
counter = os.environ.get("FAKE_COUNT")
if counter:
    with open(counter, "a") as file: file.write("x")
def maybe(kind):
    def convert(text): return None if text == "None" else kind(text)
    return convert
def make_arg_parser(parser):
    group = parser.add_argument_group("Engine")
    group.add_argument("--max-num-seqs", type=maybe(int), default=256, help="How many at 100% once.")
    group.add_argument("--load-format", choices=["auto", "dummy"], default="auto")
    group.add_argument("--enable-prefix-caching", action=argparse.BooleanOptionalAction, default=True)
    group.add_argument("--enforce-eager", action="store_true")
    group.add_argument("--stop-words", nargs="+", default=None)
    group.add_argument("--hf-overrides", type=json.loads, default={})
    group.add_argument("--compilation-config", type=lambda text: object(), default=object())
    group.add_argument("--api-key", type=str, default=None)
    group.add_argument("--port", type=int, default=8000)
    return parser
""",
}

MEGATRON = {
    "megatron/core/__init__.py": "",
    "megatron/core/transformer/__init__.py": "",
    "megatron/core/distributed/__init__.py": "",
    "megatron/core/optimizer/__init__.py": "",
    "megatron/core/transformer/transformer_config.py": '''
import enum
from dataclasses import dataclass, field
from typing import Callable, Literal, Optional, Union
class Backend(enum.Enum):
    flash = 1
    local = 2
@dataclass
class Base:
    tensor_model_parallel_size: int = 1
    """Shared by the base."""
@dataclass
class TransformerConfig(Base):
    num_layers: int = 0
    """Layers
    of the stack."""
    hidden_size: int = 0
    layernorm_epsilon: float = 1e-5
    num_query_groups: Optional[int] = None
    cuda_graph_scope: Optional[Literal["full", "selective"]] = None
    attention_backend: Backend = Backend.flash
    apply_rope_fusion: bool = False
    cp_sizes: Optional[list[int]] = None
    frequency: Union[int, list[int]] = 1
    activation_func: Callable = print
''',
    "megatron/core/distributed/distributed_data_parallel_config.py": """
from dataclasses import dataclass
@dataclass
class DistributedDataParallelConfig:
    overlap_grad_reduce: bool = False
""",
    "megatron/core/optimizer/optimizer_config.py": """
from dataclasses import dataclass
@dataclass
class OptimizerConfig:
    lr: float = 0.1
    decoupled: bool = False
""",
}


def write_package(folder: Path, files: dict[str, str]) -> Path:
    """The files of a fake package below `folder`."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def write_model(folder: Path, **changes: object) -> Path:
    """A Hugging Face folder with a small Qwen3's configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(QWEN3 | changes))
    return folder


def enough(folder: Path) -> list[str]:
    """Flags that resolve without a warning, with a model and prompts written below `folder`."""
    model = write_model(folder / "model")
    (folder / "prompts.jsonl").write_text("{}\n")
    words = ["--device", "cpu", "--hf-checkpoint", str(model), "--prompt-data", str(folder / "prompts.jsonl")]
    words += ["--num-rollout", "4", "--rollout-batch-size", "8", "--rollout-max-response-len", "16"]
    return [*words, "--actor-num-gpus-per-node", "1"]


def alone() -> Schema:
    """The schema where neither vLLM nor Megatron-core is installed, whatever this machine has."""

    def absent() -> tuple:
        raise NotInstalled("it is not installed", "install it")

    return Schema(own_options(), (Package("vllm", "vllm-", absent), Package("megatron", "", absent)))


def made(words: list[str], *files: Path) -> Config:
    """The configuration that comes out."""
    return resolve(words, files, alone())


def problems(words: list[str], *files: Path) -> list[str]:
    """What is wrong, each as it is told."""
    try:
        made(words, *files)
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def refused(words: list[str], *files: Path, dry: bool = False) -> list[str]:
    """What `vime train` finds wrong before anything starts."""
    try:
        resolve(words, files, alone(), rules=rules_of_a_run(dry))
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def vime(
    *words: str, path: Path | None = None, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """The command in a process of its own; `path` holds packages that it finds."""
    found = [*([path] if path else []), ROOT, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "vime.cli", *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, found))} | environment,
    )


def quickstart(folder: Path) -> Path:
    """A copy of the examples in which the quick start is prepared, as far as a configuration can tell, and logs of runs."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("out", "__pycache__"))
    example = folder / "examples/quickstart_cpu"
    shutil.copytree(example / "model", example / "out/warm")
    traced = Sample()
    trace_event(traced, "made up")
    for run in ("20261130-010203", "first", "quickstart"):
        log = RunLog(folder / "runs" / run)
        log.event("start")
        log.samples(0, [traced])
    return folder
