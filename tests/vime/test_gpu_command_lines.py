"""What was written for GPUs and not run: each command line is one that resolves there, and says so where there are none."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/vime/config"))

from config_world import enough

from vime.config import resolve as resolving
from vime.config.packages import schema
from vime.device import Device

SCRIPTS = sorted((ROOT / "examples/fully_async").glob("*.sh"))
TESTS = ("test_qwen3_4B_streaming_partial_rollout.py", "test_qwen2.5_0.5B_fully_async_short.py")
OWN_PLACE = 'ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"'


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolving, "detect", lambda *_: Device("cuda", 8, "for the test"))


def _resolved(words: list[str]) -> resolving.Config:
    for package in ("vllm", "megatron.core"):
        pytest.importorskip(package)
    return resolving.resolve(words, (), schema())


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(name).stem.replace(".", "_"), ROOT / "tests" / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _model_and_data(folder: Path) -> tuple[Path, Path]:
    enough(folder)
    return folder / "model", folder / "prompts.jsonl"


@pytest.mark.parametrize("name", TESTS)
def test_the_run_of_an_end_to_end_test_resolves_on_its_gpus(tmp_path: Path, gpus: None, name: str) -> None:
    module = _loaded(name)
    async_words = ["--train-async"] * ("async" in name)
    config = _resolved([*async_words, *module.train_words(*_model_and_data(tmp_path)), "--run-dir", str(tmp_path)])
    args = config.args
    ranks = args.actor_num_nodes * args.actor_num_gpus_per_node
    assert ranks + args.rollout_num_gpus == module.NUM_GPUS


@pytest.mark.parametrize("name", TESTS)
def test_an_end_to_end_test_says_that_it_needs_gpus_and_was_not_run(name: str) -> None:
    if not _loaded(name).why:
        pytest.skip("there are GPUs here")
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / name],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1 and name in done.stderr and "needs" in done.stderr
    assert "was not run: there was no GPU" in (ROOT / "tests" / name).read_text("utf-8").replace("\n", " ")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_launch_script_starts_a_run_that_resolves(tmp_path: Path, gpus: None, script: Path) -> None:
    place = tmp_path / "a place"
    model, data = _model_and_data(place)
    told = place / "told"
    told.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    told.chmod(0o755)
    own = {"MODEL": str(model), "DATA": str(data), "OUT": str(place / "the run"), "PYTHON": str(told)}
    done = subprocess.run(
        ["bash", script, "--num-rollout", "2"], capture_output=True, text=True, check=True, env=os.environ | own
    )
    program, *words = done.stdout.splitlines()
    assert program == str(ROOT / "train_async.py")
    args = _resolved(["--train-async", *words]).args
    assert args.num_rollout == 2 and args.train_async
    assert args.rollout_function_path == "vime.rollout.fully_async_rollout.generate_rollout_fully_async"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_launch_script_quotes_its_variables_and_names_no_place(script: Path) -> None:
    text = script.read_text("utf-8")
    assert "was not run where it was written" in text
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#") and line != OWN_PLACE]
    for line in lines:
        words = shlex.split(line.removesuffix("\\"), comments=True)
        assert not {word for word in words if word.startswith("/")}, line
        unquoted = re.sub(r'"[^"]*"|\$\(\(.*?\)\)', "", line)
        assert "$" not in unquoted, line


def test_both_of_upstreams_launch_scripts_are_there() -> None:
    assert [path.stem for path in SCRIPTS] == ["run-qwen2.5-0.5B-fully_async", "run-qwen3-4b-fully_async"]
