"""Checkpoints on disk: whole or not there, whatever ends the writer."""

from argparse import Namespace
from pathlib import Path

import pytest

from vime.errors import RunError
from vime.train.checkpoints import MARKER, Progress, read, starting_point, writing


def _write(save: Path, rollout_id: int, text: str = "weights") -> None:
    with writing(save, Progress(rollout_id, rollout_id + 1)) as checkpoint:
        checkpoint.trainer.mkdir()
        (checkpoint.trainer / "model").write_text(text)


def _args(load: Path | None = None, save: Path | None = None, step: int | None = None) -> Namespace:
    return Namespace(load=load and str(load), save=save and str(save), ckpt_step=step)


def test_the_last_one_is_where_a_run_goes_on(tmp_path: Path) -> None:
    _write(tmp_path, 9)
    _write(tmp_path, 19)
    found = starting_point(_args(load=tmp_path, save=tmp_path))
    assert found is not None and found.progress == Progress(19, 20)
    assert (found.trainer / "model").read_text() == "weights"


def test_a_step_can_be_named(tmp_path: Path) -> None:
    _write(tmp_path, 9)
    _write(tmp_path, 19)
    found = starting_point(_args(load=tmp_path, save=tmp_path, step=9))
    assert found is not None and found.progress.rollout_id == 9


def test_a_step_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    _write(tmp_path, 9)
    with pytest.raises(RunError, match=r"no such checkpoint\n.*steps 9"):
        starting_point(_args(load=tmp_path, step=7))


def test_a_model_folder_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert starting_point(_args(load=tmp_path, save=tmp_path / "new")) is None


def test_another_runs_checkpoints_are_not_written_over(tmp_path: Path) -> None:
    _write(tmp_path / "save", 9)
    with pytest.raises(RunError, match=r"--load"):
        starting_point(_args(load=tmp_path / "model", save=tmp_path / "save"))


def test_a_failure_leaves_the_one_before_it(tmp_path: Path) -> None:
    _write(tmp_path, 9)
    with pytest.raises(ZeroDivisionError), writing(tmp_path, Progress(19, 20)):
        raise ZeroDivisionError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["iter_0000009", MARKER]
    assert starting_point(_args(load=tmp_path)).progress.rollout_id == 9  # type: ignore[union-attr]


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    _write(tmp_path, 9)
    with pytest.raises(RunError, match=r"rollout 19 could not be written \(No space left on device\)\n.*is whole"):
        with writing(tmp_path, Progress(19, 20)):
            raise OSError(28, "No space left on device")


def test_what_a_killed_writer_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".iter_0000019.new-a1b2").mkdir()
    _write(tmp_path, 29)
    assert not list(tmp_path.glob(".*"))


def test_the_same_step_again_replaces_it(tmp_path: Path) -> None:
    _write(tmp_path, 9, "first")
    _write(tmp_path, 9, "second")
    assert (read(tmp_path / "iter_0000009").trainer / "model").read_text() == "second"
    assert not list(tmp_path.glob(".*"))


def test_a_kill_between_the_two_renames_loses_nothing(tmp_path: Path) -> None:
    _write(tmp_path, 9)
    (tmp_path / "iter_0000009").rename(tmp_path / ".iter_0000009.old-a1b2")
    found = starting_point(_args(load=tmp_path))
    assert found is not None and (found.trainer / "model").read_text() == "weights"


@pytest.mark.parametrize("text", ["", "release", "9; rm -rf /"])
def test_a_marker_that_is_no_number(tmp_path: Path, text: str) -> None:
    _write(tmp_path, 9)
    (tmp_path / MARKER).write_text(text)
    with pytest.raises(RunError, match=r"is no number\n.*of 9"):
        starting_point(_args(load=tmp_path))
