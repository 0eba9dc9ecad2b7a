"""A folder is replaced whole or not at all."""

from pathlib import Path

import pytest

from vime.utils import atomic_folder
from vime.utils.atomic_file import write_atomic
from vime.utils.atomic_folder import replace_folder, whole_folder


def names(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*"))


def test_it_is_there_when_the_block_ends(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "deep" / "a") as new:
        (new / "one").write_text("1")
        assert not (tmp_path / "deep" / "a").exists()
    assert names(tmp_path) == ["deep", "deep/a", "deep/a/one"]


def test_an_error_leaves_what_was(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "a") as new:
        (new / "one").write_text("1")
    with pytest.raises(OSError, match="full"), whole_folder(tmp_path / "a") as new:
        (new / "two").write_text("2")
        raise OSError("full")
    assert names(tmp_path) == ["a", "a/one"]


@pytest.mark.parametrize("exchange", [True, False])
def test_the_former_content_goes(exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchange:
        monkeypatch.setattr(atomic_folder, "_exchanged", lambda one, other: False)
    for name in ("new", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    replace_folder(tmp_path / "new", tmp_path / "old")
    assert names(tmp_path) == ["old", "old/new"]


def test_names_are_exchanged_at_once_here(tmp_path: Path) -> None:
    for name in ("new", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    assert atomic_folder._exchanged(tmp_path / "new", tmp_path / "old")
    assert names(tmp_path) == ["new", "new/old", "old", "old/new"]


def test_left_over_parts_of_a_killed_writer_go(tmp_path: Path) -> None:
    (tmp_path / ".a.new").mkdir()
    (tmp_path / ".a.new" / "half").touch()
    with whole_folder(tmp_path / "a") as new:
        (new / "one").touch()
    assert names(tmp_path) == ["a", "a/one"]


def test_a_small_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "marker"
    write_atomic(path, b"1")
    write_atomic(path, b"2")
    assert (names(tmp_path), path.read_text()) == (["marker"], "2")
