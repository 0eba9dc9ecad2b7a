"""Units partition the diff: every line once, within one hunk, cut at definitions and marks, under stable ids."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_world import COMMIT, file_change, image

from sync_tools.ledger.lines import split
from sync_tools.ledger.units import Marks, Unit, partition
from sync_tools.modes import EXECUTABLE, SYMLINK
from sync_tools.upstream.changeset import FileChange, Hunk, Image

LINES = st.lists(
    st.sampled_from(
        ["a", "b", "", "def f():", "    return 1", "class C:", "    def m(self):", "x = 1", "import os", "é\r"]
    ),
    max_size=25,
)
MARK = st.sampled_from(["dropped", "deferred", "conflict"])


def change_of(old: list[str], new: list[str], path: str = "slime/m.py") -> FileChange:
    return file_change(image(path, "\n".join(old).encode()), image(path, "\n".join(new).encode()))


def spans(units: tuple[Unit, ...]) -> list[tuple[str, str, int, int]]:
    return [(u.symbol, u.mark or "", u.hunk.old_count, u.hunk.new_count) for u in units]


@settings(max_examples=100, deadline=None)
@given(LINES, LINES, st.dictionaries(st.integers(0, 25), MARK), st.dictionaries(st.integers(0, 25), MARK))
def test_every_line_is_in_one_unit_of_one_hunk(
    old: list[str], new: list[str], olds: dict[int, str], news: dict[int, str]
) -> None:
    change = change_of(old, new)
    units = partition(change, COMMIT, Marks(olds, news))
    assert [i for u in units for i in u.hunk.old] == [i for h in change.hunks for i in h.old]
    assert [i for u in units for i in u.hunk.new] == [i for h in change.hunks for i in h.new]
    assert len({u.id for u in units}) == len(units) >= 1
    for u in units:
        if not u.whole:
            assert any(_inside(u.hunk.old, h.old) and _inside(u.hunk.new, h.new) for h in change.hunks)
        assert {olds.get(i) for i in u.hunk.old} | {news.get(i) for i in u.hunk.new} <= {u.mark}


def _inside(part: range, whole: range) -> bool:
    return whole.start <= part.start and part.stop <= whole.stop


def test_a_hunk_over_two_functions_is_two_units() -> None:
    old = ["def f():", "    return 1", "", "def g():", "    return 2"]
    new = ["def f():", "    return 3", "", "def g():", "    return 4"]
    change = FileChange(
        "modified",
        image("m.py", "\n".join(old).encode()),
        image("m.py", "\n".join(new).encode()),
        100,
        False,
        (Hunk(2, 4, 2, 4),),
    )
    assert spans(partition(change, COMMIT)) == [("f", "", 1, 1), ("g", "", 3, 3)]


def test_an_added_file_is_cut_at_imports_functions_classes_and_methods() -> None:
    text = "import os\n\nLIMIT = 1\n\n\n@deco\ndef f():\n    return 1\n\n\n# about C\nclass C:\n    x = 1\n\n    def m(self):\n        pass\n"
    units = partition(file_change(None, image("m.py", text.encode())), COMMIT)
    assert [(u.symbol, u.hunk.new_start, u.hunk.new_count) for u in units] == [
        ("<imports>", 1, 1),
        ("<module>", 2, 2),
        ("f", 4, 5),
        ("C", 9, 5),
        ("C.m", 14, 3),
    ]


def test_two_definitions_of_one_name_are_not_one() -> None:
    text = "def f():\n    return 1\ndef f():\n    return 2\n"
    assert spans(partition(file_change(None, image("m.py", text.encode())), COMMIT)) == [("f", "", 0, 2)] * 2


@pytest.mark.parametrize(
    "text", [b"def broken(:\n    x\n", b"\xff\xfe = 1\n", b"a = '\0'\n", b"x = " + b"(" * 500 + b"\n"]
)
def test_python_that_does_not_parse_is_a_file_without_definitions(text: bytes) -> None:
    assert [u.symbol for u in partition(file_change(None, image("m.py", text)), COMMIT)] == [""]


def test_marks_cut_around_their_runs() -> None:
    change = file_change(image("run.sh", b"a\n"), image("run.sh", b"a\n1\n2\n3\n4\n"))
    units = partition(change, COMMIT, Marks(new={2: "dropped", 3: "dropped"}))
    assert spans(units) == [("", "", 0, 1), ("", "dropped", 0, 2), ("", "", 0, 1)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            FileChange("renamed", Image("a", 0o100644, b"x\n"), Image("b", 0o100644, b"x\n"), 100, False, ()),
            ("renamed, 100% alike",),
        ),
        (
            FileChange("mode", Image("a", 0o100644, b"x\n"), Image("a", EXECUTABLE, b"x\n"), 100, False, ()),
            ("mode 100644 -> 100755",),
        ),
        (FileChange("added", None, Image("a", 0o100644, b"\0"), 100, True, ()), ("binary",)),
        (FileChange("added", None, Image("a", 0o100644, b""), 100, False, ()), ("empty",)),
    ],
)
def test_what_has_no_lines_is_one_file_wide_unit(change: FileChange, said: tuple[str, ...]) -> None:
    (unit,) = partition(change, COMMIT)
    assert unit.whole
    assert unit.facts == said


def test_a_link_has_a_file_wide_unit_beside_its_line() -> None:
    link = FileChange("added", None, Image("a", SYMLINK, b"target"), 100, False, (Hunk(0, 0, 1, 1),))
    assert [(u.whole, u.facts) for u in partition(link, COMMIT)] == [(True, ("symlink",)), (False, ())]


def test_ids_tell_equal_units_apart_and_forget_where_they_stand() -> None:
    same = file_change(image("a.sh", b"x\ny\n"), image("a.sh", b"new\nx\nnew\ny\n"))
    below = file_change(image("a.sh", b"top\nx\ny\n"), image("a.sh", b"top\nnew  \r\nx\nnew\ny\n"))
    assert [u.id for u in partition(same, COMMIT)] == [u.id for u in partition(below, COMMIT)]
    assert {u.id for u in partition(same, COMMIT)}.isdisjoint(u.id for u in partition(same, "d" * 40))


def test_totals_are_those_of_git(tmp_path) -> None:
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    old.write_bytes(b"def f():\r\n    return 1\n\x0c\nlast")
    new.write_bytes(b"def f():\n    return 1\n\x0c\nlast\n\xff\xfe\rone line\n")
    out = subprocess.run(
        ["git", "diff", "--no-index", "--numstat", str(old), str(new)], capture_output=True, text=True, check=False
    ).stdout
    change = file_change(image("f.py", old.read_bytes()), image("f.py", new.read_bytes()))
    units = partition(change, COMMIT)
    assert [str(sum(u.hunk.new_count for u in units)), str(sum(u.hunk.old_count for u in units))] == out.split()[:2]


def test_lines_are_counted_as_git_counts_them() -> None:
    assert split(b"") == []
    assert split(b"a\r\nb\x0cc\rd\n\n") == [b"a\r", b"b\x0cc\rd", b""]
    assert split(b"no end") == [b"no end"]
