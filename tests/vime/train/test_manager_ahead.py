"""What was generated ahead of a checkpoint is in it: no prompt is lost, and none is trained on twice."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
sys.path.insert(0, str(Path(__file__).parents[1] / "config"))

from config_world import enough, made

from vime.ray import rollout as module
from vime.ray.rollout import RolloutManager
from vime.rollout.ahead import Ahead, load_ahead, save_ahead
from vime.rollout.base_types import RolloutFnTrainOutput
from vime.rollout.data_source import DataSourceError
from vime.utils.types import Sample

GROUPS, SAMPLES = 4, 2


class Numbers:
    """Gives out numbered prompts, and stands where its file says."""

    def __init__(self, args: Any) -> None:
        self._args, self.given = args, 0

    def get_samples(self, count: int) -> list[list[Sample]]:
        numbers = range(self.given, self.given + count)
        self.given += count
        return [[Sample(group_index=n, index=n * SAMPLES + k) for k in range(SAMPLES)] for n in numbers]

    def save(self, rollout_id: int) -> None:
        (Path(self._args.save) / f"given_{rollout_id}").write_text(str(self.given))

    def load(self, rollout_id: int) -> None:
        if rollout_id >= 0:
            self.given = int((Path(self._args.load) / f"given_{rollout_id}").read_text())

    def __len__(self) -> int:
        return 400


def generates(args: Any, rollout_id: int, data_source: Any, evaluation: bool = False) -> RolloutFnTrainOutput:
    groups = data_source.get_samples(GROUPS)
    for sample in (one for group in groups for one in group):
        sample.append_response_tokens(args, tokens=[5, 6], log_probs=[-0.5, -1.5], trainable=True, text="ab")
        sample.tokens = [1, *sample.tokens]
        sample.reward, sample.status = float(sample.index % 2), Sample.Status.COMPLETED
        sample.weight_versions = [str(rollout_id)]
    # The last prompt's samples are fanned out.
    groups[-1] = [[one] for one in groups[-1]]
    return RolloutFnTrainOutput(groups, {"rollout/made": rollout_id})


@pytest.fixture(autouse=True)
def _without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.ray, "put", lambda value: value)
    monkeypatch.setattr(RolloutManager, "_pieces", staticmethod(lambda tokens: [str(one) for one in tokens]))


def _manager(folder: Path, *words: str) -> RolloutManager:
    folder.mkdir(exist_ok=True)
    (folder / "ckpt").mkdir(exist_ok=True)
    own = ["--rollout-function-path", f"{__name__}.generates", "--data-source-path", f"{__name__}.Numbers"]
    own += [
        f"--n-samples-per-prompt={SAMPLES}",
        f"--rollout-batch-size={GROUPS}",
        "--run-dir",
        str(folder / "run"),
    ]
    config = made([*enough(folder), *own, "--save", str(folder / "ckpt"), "--train-async", *words])
    one = RolloutManager(config, None)
    one.read_prompts()
    return one


def _trained(manager: RolloutManager, rollout_id: int) -> dict[str, Any]:
    return manager.generate(rollout_id).data.inner


def test_a_resumed_run_trains_first_on_what_was_made_ahead_and_then_on_the_next_prompts(tmp_path: Path) -> None:
    before = _manager(tmp_path)
    _trained(before, 0)
    made_ahead = _trained(before, 1)
    before.save(0)
    after = _manager(tmp_path, "--load", str(tmp_path / "ckpt"))
    after.load(0)
    assert _trained(after, 1) == made_ahead
    assert _trained(after, 2) == _trained(before, 2)
    assert _trained(after, 3)["sample_indices"][0] == 3 * GROUPS * SAMPLES


def test_what_was_trained_on_is_not_in_the_checkpoint_after_it(tmp_path: Path) -> None:
    before = _manager(tmp_path)
    _trained(before, 0)
    _trained(before, 1)
    before.save(0)
    before.save(1)
    assert not (tmp_path / "ckpt/rollout/generated_ahead_1.json").exists()
    after = _manager(tmp_path, "--load", str(tmp_path / "ckpt"))
    after.load(1)
    assert _trained(after, 2) == _trained(before, 2)


def test_the_file_of_a_run_that_passed_here_before_is_gone(tmp_path: Path) -> None:
    args = _manager(tmp_path, "--load", str(tmp_path / "ckpt"))._args
    save_ahead(args, 3, Ahead(4, [[Sample(index=1)]], None))
    assert load_ahead(args, 3) is not None
    save_ahead(args, 3, None)
    assert load_ahead(args, 3) is None


def test_samples_come_back_as_they_were(tmp_path: Path) -> None:
    args = _manager(tmp_path, "--load", str(tmp_path / "ckpt"))._args
    made_of = generates(args, 8, Numbers(args))
    save_ahead(args, 7, Ahead(8, made_of.samples, made_of.metrics))
    found = load_ahead(args, 7)
    assert found == Ahead(8, made_of.samples, made_of.metrics)


@pytest.mark.parametrize(
    "text", ["", "{}", json.dumps({"rollout_id": 1, "groups": [[{"no": "sample"}]], "metrics": {}})]
)
def test_a_file_that_is_no_rollout_is_told(tmp_path: Path, text: str) -> None:
    args = _manager(tmp_path, "--load", str(tmp_path / "ckpt"))._args
    path = tmp_path / "ckpt/rollout/generated_ahead_0.json"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(DataSourceError, match=r"generated_ahead_0\.json holds no rollout"):
        load_ahead(args, 0)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    args = _manager(tmp_path, "--load", str(tmp_path / "ckpt"))._args
    (tmp_path / "ckpt/rollout/generated_ahead_0.json").mkdir(parents=True)
    with pytest.raises(DataSourceError, match=r"generated_ahead_0\.json cannot be read"):
        load_ahead(args, 0)
