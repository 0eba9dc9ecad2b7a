"""A run does not write over another's checkpoints."""

from argparse import Namespace
from pathlib import Path

import pytest

from vime.errors import RunError
from vime.train.folders import refuse_to_overwrite


def _args(load: Path | None, save: Path | None) -> Namespace:
    return Namespace(load=load and str(load), save=save and str(save))


@pytest.fixture
def used(tmp_path: Path) -> Path:
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("9")
    return tmp_path


def test_another_runs_checkpoints_are_refused(used: Path) -> None:
    with pytest.raises(RunError, match=r"of another run\n.*--load"):
        refuse_to_overwrite(_args(Path("model"), used))


def test_going_on_from_them_is_not(used: Path) -> None:
    refuse_to_overwrite(_args(used, used))
    refuse_to_overwrite(_args(used / "iter_0000003", used))


def test_a_new_folder_is_not(tmp_path: Path) -> None:
    refuse_to_overwrite(_args(None, tmp_path / "new"))
    refuse_to_overwrite(_args(None, None))
