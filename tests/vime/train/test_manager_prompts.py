"""Prompts of what is generated when a stop comes are in the checkpoint that is written then, whichever source they are of."""

import asyncio
import json
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
sys.path.insert(0, str(Path(__file__).parents[1] / "config"))

from config_world import enough, made
from rollout_world import tiny_model, write_prompts

from vime.errors import Interrupted
from vime.ray import rollout as module
from vime.ray.rollout import RolloutManager
from vime.utils.types import Sample

GROUPS, SAMPLES = 4, 2
BUSY = threading.Event()
"""Set when a sample is generated that takes its time."""
FULLY = "vime.rollout.fully_async_rollout.generate_rollout_fully_async"


class Plain:
    """A source of the user's: it takes groups back, and knows nothing of such as are under way."""

    def __init__(self, args: Any) -> None:
        self.args, self.given, self.back = args, 0, []

    def get_samples(self, count: int) -> list[list[Sample]]:
        numbers = range(self.given, self.given + count)
        self.given += count
        return [[Sample(prompt="p", group_index=n, index=n * SAMPLES + k) for k in range(SAMPLES)] for n in numbers]

    def add_samples(self, groups: list[list[Sample]]) -> None:
        self.back += groups

    def save(self, rollout_id: int) -> None:
        (Path(self.args.save) / "back").write_text(json.dumps([group[0].group_index for group in self.back]))

    def load(self, rollout_id: int) -> None: ...

    def __len__(self) -> int:
        return 400


async def slow(args: Any, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """Generates the first rollout at once, and then takes its time, also to clean up what is its own (a browser, say)."""
    if sample.group_index < GROUPS:
        sample.tokens = [1]
        sample.append_response_tokens(args, tokens=[5, 6], log_probs=[-0.5, -1.5], text="ab")
        sample.status = Sample.Status.COMPLETED
        return sample
    BUSY.set()
    try:
        await asyncio.sleep(60)
    finally:
        over = time.monotonic() + 1.6
        while (left := over - time.monotonic()) > 0:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(left)
    return sample


async def half(args: Any, sample: Sample, **_: Any) -> float:
    return float(sample.index % 2)


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    BUSY.clear()
    tiny_model(monkeypatch)
    monkeypatch.setattr(module.ray, "put", lambda value: value)
    monkeypatch.setattr(RolloutManager, "_pieces", staticmethod(lambda tokens: [str(one) for one in tokens]))


def _manager(folder: Path, *words: str) -> RolloutManager:
    (folder / "ckpt").mkdir(exist_ok=True)
    own = ["--custom-generate-function-path", f"{__name__}.slow", "--custom-rm-path", f"{__name__}.half"]
    own += [
        f"--n-samples-per-prompt={SAMPLES}",
        f"--rollout-batch-size={GROUPS}",
        "--vllm-router-ip",
        "127.0.0.1",
    ]
    own += ["--vllm-router-port", "9", "--run-dir", str(folder / "run"), "--save", str(folder / "ckpt")]
    config = made([*enough(folder), "--prompt-data", write_prompts(folder / "p.jsonl", 10), *own, *words])
    one = RolloutManager(config, None)
    one._args = one._args.replace(hf_checkpoint="tiny", rollout_num_engines=1)
    one.read_prompts()
    return one


def _stopped_ahead(manager: RolloutManager) -> None:
    """The first rollout is made, and a stop comes while the next is."""
    manager.generate(0)
    threading.Thread(target=lambda: (BUSY.wait(), manager.interrupt()), daemon=True).start()
    with pytest.raises(Interrupted):
        manager.generate(1)


@pytest.mark.parametrize("words", [["--train-async"], ["--train-async", "--rollout-function-path", FULLY]])
def test_the_prompts_of_a_rollout_that_was_ahead_are_in_what_is_saved_after_the_stop(
    tmp_path: Path, words: list[str]
) -> None:
    manager = _manager(tmp_path, *words)
    _stopped_ahead(manager)
    manager.save(0)
    again = _manager(tmp_path, *words, "--load", str(tmp_path / "ckpt"))
    again.load(0)
    groups = again._data_source.get_samples(5)
    assert [group[0].group_index for group in groups] == [4, 5, 6, 7, 8]
    assert not (tmp_path / "ckpt/rollout/generated_ahead_0.json").exists()
    manager._data_source.check_balance(len(manager._data_source.outstanding.groups()))


def test_so_are_those_of_a_source_that_knows_only_what_comes_back(tmp_path: Path) -> None:
    manager = _manager(tmp_path, "--data-source-path", f"{__name__}.Plain")
    _stopped_ahead(manager)
    manager.save(0)
    assert json.loads((tmp_path / "ckpt/back").read_text()) == [4, 5, 6, 7]


def test_where_epochs_count_the_rollout_process_knows_how_many_there_are(tmp_path: Path) -> None:
    manager = _manager(tmp_path, "--num-epoch", "3")
    assert manager._args.num_rollout == 4  # as given
    words = enough(tmp_path)
    place = words.index("--num-rollout")
    del words[place : place + 2]
    own = ["--num-epoch", "3", "--rollout-batch-size", str(GROUPS), "--run-dir", str(tmp_path / "run")]
    config = made([*words, "--prompt-data", write_prompts(tmp_path / "p.jsonl", 10), *own])
    one = RolloutManager(config, None)
    assert one.read_prompts() == 2 and one._args.num_rollout == 6
