"""Checkpoints of the trainer: exact, whole or absent, and refused with a reason."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from collections.abc import Iterator

from megatron.core import dist_checkpointing
from megatron_world import gradients, hf_model, made_args, made_pack, made_state, updated

from vime.backends.megatron_utils.checkpoint import (
    CheckpointError,
    TrainState,
    latest_iteration,
    load_checkpoint,
    save_checkpoint,
)
from vime.backends.megatron_utils.checkpoint.sharded import read_sharded, write_sharded
from vime.backends.megatron_utils.model_provider import build_model
from vime.backends.megatron_utils.parallel import init_parallel


@pytest.fixture(autouse=True)
def one_rank() -> Iterator[None]:
    place = init_parallel()
    yield
    place.close()


PACKS = [[made_pack((9, 4, 12), seed), made_pack((3, 20), seed + 100)] for seed in range(4)]


@pytest.mark.parametrize("words", [(), ("--dtype", "bfloat16"), ("--optimizer", "sgd")], ids=["adam", "bf16", "sgd"])
def test_a_run_that_resumes_goes_on_bit_for_bit(words: tuple[str, ...], tmp_path: Path) -> None:
    hf_model("qwen3-tied", tmp_path / "hf")
    args = made_args(tmp_path / "hf", *words)
    state = made_state(args, tmp_path / "hf")
    told = [updated(state, packs) for packs in PACKS[:2]]
    save_checkpoint(tmp_path / "run", 1, state)
    told += [updated(state, packs) for packs in PACKS[2:]]
    drawn = (torch.rand(3), random.random())

    other = made_state(args, tmp_path / "hf")
    assert load_checkpoint(tmp_path / "run", other) == 1
    resumed = [updated(other, packs) for packs in PACKS[2:]]
    assert resumed == told[2:]
    assert len(set(told)) == 4
    assert other.optimizer.param_groups[0]["lr"] == state.optimizer.param_groups[0]["lr"]
    assert torch.equal(drawn[0], torch.rand(3))
    assert drawn[1] == random.random()
    for mine, theirs in zip(state.model[0].parameters(), other.model[0].parameters()):
        assert torch.equal(mine, theirs)


def test_without_the_optimizer_the_updates_differ(tmp_path: Path) -> None:
    hf_model("llama", tmp_path / "hf")
    args = made_args(tmp_path / "hf")
    state = made_state(args, tmp_path / "hf")
    updated(state, PACKS[0])
    save_checkpoint(tmp_path / "run", 0, state)
    told = [updated(state, packs) for packs in PACKS[1:3]]
    other = made_state(args, tmp_path / "hf")
    load_checkpoint(tmp_path / "run", other, optimizer=False)
    resumed = [updated(other, packs) for packs in PACKS[1:3]]
    assert resumed[0] == told[0]
    assert resumed[1] != told[1]


def test_weights_alone(tmp_path: Path) -> None:
    hf_model("qwen2", tmp_path / "hf")
    args = made_args(tmp_path / "hf")
    state = made_state(args, tmp_path / "hf")
    save_checkpoint(tmp_path / "run", 5, TrainState(state.model))
    model = build_model(args)
    assert load_checkpoint(tmp_path / "run" / "iter_0000005", TrainState(model)) == 5
    for mine, theirs in zip(state.model[0].parameters(), model[0].parameters()):
        assert torch.equal(mine, theirs)
    with pytest.raises(CheckpointError, match="no optimizer state"):
        load_checkpoint(tmp_path / "run", state)


def test_files_beside_are_part_of_it(tmp_path: Path) -> None:
    hf_model("llama", tmp_path / "hf")
    state = made_state(made_args(tmp_path / "hf"), tmp_path / "hf")
    save_checkpoint(tmp_path, 0, state, beside=lambda folder: (folder / "cursor.json").write_text("7") and None)
    assert (tmp_path / "iter_0000000" / "cursor.json").read_text() == "7"

    def fails(folder: Path) -> None:
        raise RuntimeError("the cursor is lost")

    with pytest.raises(CheckpointError, match="the cursor is lost"):
        save_checkpoint(tmp_path, 1, state, beside=fails)
    assert latest_iteration(tmp_path) == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "hf",
        "iter_0000000",
        "latest_checkpointed_iteration.txt",
    ]


def test_the_same_number_again_replaces_it(tmp_path: Path) -> None:
    hf_model("llama", tmp_path / "hf")
    args = made_args(tmp_path / "hf")
    state = made_state(args, tmp_path / "hf")
    save_checkpoint(tmp_path / "run", 3, state)
    updated(state, PACKS[0])
    save_checkpoint(tmp_path / "run", 3, state)
    other = made_state(args, tmp_path / "hf")
    load_checkpoint(tmp_path / "run", other)
    assert gradients(other, PACKS[1]) == gradients(state, PACKS[1])
    assert len(list((tmp_path / "run").iterdir())) == 2


def _no_number(run: Path) -> None:
    (run / "latest_checkpointed_iteration.txt").write_text("last")


def _cut(run: Path) -> None:
    (path,) = run.glob("iter_*/tensors*")
    path.write_bytes(path.read_bytes()[:-100])


def _lost(run: Path) -> None:
    next(run.glob("iter_*/random*")).unlink()


def _later_format(run: Path) -> None:
    (path,) = run.glob("iter_*/state.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_no_number, "cannot be read"),
        (_cut, "not whole"),
        (_lost, "not whole"),
        (_later_format, "format 99"),
    ],
)
def test_what_cannot_be_read_is_said(harm, said: str, tmp_path: Path) -> None:
    hf_model("llama", tmp_path / "hf")
    state = made_state(made_args(tmp_path / "hf"), tmp_path / "hf")
    save_checkpoint(tmp_path / "run", 2, state)
    harm(tmp_path / "run")
    with pytest.raises(CheckpointError, match=said):
        load_checkpoint(tmp_path / "run", state)


@pytest.mark.parametrize(
    ("family", "changes", "said"),
    [
        ("qwen3", {}, "of another model"),
        ("llama", {"intermediate_size": 64}, r"is \(192, 128\) in it and \(128, 128\) here"),
    ],
)
def test_another_model_is_refused(family: str, changes: dict, said: str, tmp_path: Path) -> None:
    hf_model("llama", tmp_path / "hf")
    save_checkpoint(tmp_path / "run", 2, made_state(made_args(tmp_path / "hf"), tmp_path / "hf"))
    hf_model(family, tmp_path / "other", **changes)
    other = made_state(made_args(tmp_path / "other"), tmp_path / "other")
    with pytest.raises(CheckpointError, match=said):
        load_checkpoint(tmp_path / "run", other)


def _megatron_form(folder: Path, model: torch.nn.Module) -> None:
    """As Megatron-LM writes it; a kind of layer of Transformer Engine's has these names too."""
    folder.mkdir(parents=True)
    dist_checkpointing.save({"model": model.sharded_state_dict(prefix=""), "iteration": 7}, str(folder))


def test_weights_of_megatrons_own_form_are_read(tmp_path: Path) -> None:
    hf_model("qwen3-tied", tmp_path / "hf")
    args, padded = (made_args(tmp_path / "hf", *words) for words in ((), ("--make-vocab-size-divisible-by", "64")))
    source = made_state(padded, tmp_path / "hf").model[0].module
    with torch.no_grad():
        for parameter in source.parameters():
            parameter.mul_(1.25)
    _megatron_form(tmp_path / "run" / "iter_0000007", source)
    (tmp_path / "run" / "latest_checkpointed_iteration.txt").write_text("7")
    state = made_state(args.replace(dtype="bfloat16", bf16=True), tmp_path / "hf")
    assert load_checkpoint(tmp_path / "run", state, optimizer=False) == 7
    for (name, mine), theirs in zip(state.model[0].module.named_parameters(), source.parameters()):
        assert torch.equal(mine, theirs[: mine.shape[0]].bfloat16()), name
    for master in state.optimizer.masters:
        assert torch.equal(master.weights, master.parameter.float())
    with pytest.raises(CheckpointError, match="Add --no-load-optim"):
        load_checkpoint(tmp_path / "run", state)

    (tmp_path / "run" / "iter_0000007").rename(tmp_path / "run" / "release")
    (tmp_path / "run" / "latest_checkpointed_iteration.txt").write_text("release\n")
    assert load_checkpoint(tmp_path / "run", TrainState(build_model(args))) == -1
    hf_model("qwen2", tmp_path / "other")
    other = TrainState(build_model(made_args(tmp_path / "other")))
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(tmp_path / "run", other)


def test_the_form_of_the_distributed_optimizer_goes_on_too(tmp_path: Path) -> None:
    """With an optimizer that keeps whole parameters: the distributed one needs GPUs, and has the same interface."""
    hf_model("qwen3", tmp_path / "hf")
    args = made_args(tmp_path / "hf")
    state = made_state(args, tmp_path / "hf")
    updated(state, PACKS[0])
    write_sharded(tmp_path / "sharded", state)
    told = [gradients(state, packs) for packs in PACKS[1:2]] + [state.optimizer.step()]
    other = made_state(args, tmp_path / "hf")
    other.scheduler.step(4)
    read_sharded(tmp_path / "sharded", other)
    assert [gradients(other, packs) for packs in PACKS[1:2]] + [other.optimizer.step()] == told
    for mine, theirs in zip(state.model[0].parameters(), other.model[0].parameters()):
        assert torch.equal(mine, theirs)


def test_nothing_there(tmp_path: Path) -> None:
    assert latest_iteration(tmp_path) is None
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load_checkpoint(tmp_path, TrainState([]))


_SAVING = """
import sys
from pathlib import Path
from megatron_world import made_args, made_pack, made_state, updated
from vime.backends.megatron_utils.checkpoint import save_checkpoint
from vime.backends.megatron_utils.parallel import init_parallel
hf, run, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
init_parallel()
state = made_state(made_args(hf), hf)
save_checkpoint(run, 0, state)
if how == "full":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for number in range(1, 100_000):
    updated(state, [made_pack((9, 4), number)])
    print(number, flush=True)
    save_checkpoint(run, number, state)
"""


def _saving(tmp_path: Path, how: str) -> subprocess.Popen[str]:
    hf_model("llama", tmp_path / "hf")
    command = [sys.executable, "-W", "ignore", "-c", _SAVING, str(tmp_path / "hf"), str(tmp_path / "run"), how]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
    )


def test_a_kill_while_saving_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    with _saving(tmp_path, "kill") as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.uniform(0.2, 1.0))
        process.send_signal(signal.SIGKILL)
        last = int((process.stdout.read().split() or ["1"])[-1])
    number = latest_iteration(tmp_path / "run")
    assert number in (last - 1, last)
    args = made_args(tmp_path / "hf")
    state = made_state(args, tmp_path / "hf")
    assert load_checkpoint(tmp_path / "run", state) == number
    assert state.scheduler.num_steps == 4 * number
    save_checkpoint(tmp_path / "run", number + 1, state)
    assert latest_iteration(tmp_path / "run") == number + 1


def test_a_full_disk_is_told_and_the_checkpoint_before_stays(tmp_path: Path) -> None:
    with _saving(tmp_path, "full") as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "CheckpointError" in said.splitlines()[-1]
    assert "make room there" in said.splitlines()[-1].lower()
    assert sorted(one.name for one in (tmp_path / "run").iterdir()) == [
        "iter_0000000",
        "latest_checkpointed_iteration.txt",
    ]
    assert latest_iteration(tmp_path / "run") == 0
