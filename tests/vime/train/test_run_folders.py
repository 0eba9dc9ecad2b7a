"""A run that writes over checkpoints of another leaves a marker that names a whole one, whenever it is killed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from vime.train import run as module
from vime.train.run import RayRun
from vime.train.stop import StopRequest
from vime.utils.checkpoint_names import MARKER, iteration_folder, root_of


class Parts:
    """Stands for manager and trainer: `save` looks at the marker, before either has written anything."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen = folder, []

    def __getattr__(self, method: str) -> Any:
        assert method == "save"
        return SimpleNamespace(remote=lambda number: self.seen.append((self.folder / MARKER).read_text()))

    def save_model(self, number: int) -> None:
        (self.folder / MARKER).write_text(str(number))


def _saved(folder: Path, monkeypatch: pytest.MonkeyPatch, first: int, *numbers: int) -> list[str]:
    """What the marker says when each of the checkpoints begins to be written."""
    monkeypatch.setattr(module, "result", lambda ref, who: ref)
    parts = Parts(folder)
    config = SimpleNamespace(args=SimpleNamespace(save=str(folder)))
    run = RayRun(config, parts, parts, StopRequest(), lambda *_: None, first)  # type: ignore[arg-type]
    for number in numbers:
        run.save(number)
    return parts.seen


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """Checkpoints 5 and 10, of which the last is named."""
    for number in (5, 10):
        iteration_folder(tmp_path, number).mkdir()
    (tmp_path / MARKER).write_text("10")
    return tmp_path


def test_a_checkpoint_that_is_written_over_is_not_named_meanwhile(used, monkeypatch):
    assert _saved(used, monkeypatch, 6, 10, 15) == ["5", "10"]
    assert (used / MARKER).read_text() == "15"


def test_a_run_that_goes_on_from_the_last_leaves_the_marker_alone(used, monkeypatch):
    assert _saved(used, monkeypatch, 11, 15, 20) == ["10", "15"]


def test_one_that_went_on_from_elsewhere_has_nothing_to_go_back_to(used, monkeypatch):
    assert _saved(used, monkeypatch, 4, 10) == ["10"]


def test_one_iteration_stands_for_the_folder_of_all():
    assert root_of("runs/ckpt/iter_0000012") == root_of("runs/ckpt") == Path("runs/ckpt")
