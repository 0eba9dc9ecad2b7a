"""When an edit of the fork counts as lost."""

from dataclasses import replace

import pytest

from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.replay.lost import Ends, lost, unexplained
from sync_tools.tree import Blob, MemoryTree
from sync_tools.upstream.changeset import FileChange, Hunk, Image

BASE = b"def f():\n    a()\n    b()\n\n\ndef g():\n    c()\n"
OURS = BASE.replace(b"    b()\n", b"    mine()\n")
PATH = "p/x.py"


def change(before: bytes | None, after: bytes | None, *hunks: Hunk, kind="modified", mode=REGULAR) -> FileChange:
    images = [None if data is None else Image(PATH, m, data) for data, m in ((before, REGULAR), (after, mode))]
    return FileChange(kind, *images, 0, False, hunks)


EDIT = change(BASE, OURS, Hunk(3, 1, 3, 1))


def ends(final: bytes | None, wanted: bytes | None = BASE, *explained: tuple[str, str], mode=REGULAR, **moves) -> Ends:
    trees = [
        MemoryTree({} if data is None else {PATH: Blob(data, m)}) for data, m in ((final, mode), (wanted, REGULAR))
    ]
    return Ends(*trees, moves.get("moved", {}), moves.get("renamed", {}), set(explained))


@pytest.mark.parametrize(
    ("final", "wanted"),
    [
        (OURS, BASE),
        (OURS.replace(b"c()", b"d()"), BASE.replace(b"c()", b"d()")),
        (OURS + b"    b()\n", BASE + b"    b()\n"),  # upstream writes elsewhere what the fork removed here
        (OURS, BASE.replace(b"    b()\n", b"")),  # both removed it
        (OURS, OURS),  # upstream took it in
    ],
)
def test_what_stands_is_not_lost(final, wanted):
    assert lost([EDIT], ends(final, wanted)) == ()
    assert unexplained([EDIT], [PATH] if final != wanted else [], ends(final, wanted)) == ()


def test_a_second_copy_of_a_line_is_lost_though_the_first_one_stands():
    twice = BASE + b"    a()\n"
    edit = change(BASE, twice, Hunk(7, 0, 8, 1))
    assert lost([edit], ends(twice)) == ()
    assert [x.what for x in lost([edit], ends(BASE))] == ["added and gone: a()"]


@pytest.mark.parametrize(
    ("final", "what"),
    [
        (BASE, "added and gone: mine()"),
        (OURS.replace(b"    mine()\n", b""), "added and gone: mine()"),
        (OURS.replace(b"    mine()\n", b"    mine()\n    b()\n"), "removed and back: b()"),
        (None, "the file is gone"),
    ],
)
def test_what_is_gone_or_back_is_lost(final, what):
    [found] = lost([EDIT], ends(final))
    assert found.what == what and found.path == PATH
    if final is not None:
        assert (found.symbol, found.line) == ("f", 3)


def test_a_conflict_explains_its_own_place_alone():
    assert lost([EDIT], ends(BASE, BASE, (PATH, "f"))) == ()
    assert lost([EDIT], ends(BASE, BASE, (PATH, "g"))) != ()
    assert lost([EDIT], ends(None, None, (PATH, PATH))) == ()


def test_an_edit_is_followed_to_where_its_file_went():
    there = Ends(
        MemoryTree({"p/y.py": Blob(OURS)}),
        MemoryTree({"p/y.py": Blob(BASE)}),
        {PATH: "p/y.py"},
        {PATH: "p/y.py"},
        set(),
    )
    assert lost([EDIT], there) == ()


def test_a_conflict_is_followed_to_where_its_file_went():
    """Told under the path of that time, and the file moved on."""
    moves = {PATH: "p/y.py"}
    strange = MemoryTree({"p/y.py": Blob(OURS.replace(b"c()", b"d()"))})
    there = Ends(strange, MemoryTree({"p/y.py": Blob(BASE)}), moves, moves, set())
    assert unexplained([EDIT], ["p/y.py"], there) == ("p/y.py",)
    for told in (replace(there, explained={(PATH, "g")}), replace(there, disputed={PATH: {b"    c()", b"    d()"}})):
        assert unexplained([EDIT], ["p/y.py"], told) == ()


def test_whole_files():
    removed, executable = change(BASE, None, kind="deleted"), change(BASE, BASE, mode=EXECUTABLE, kind="mode")
    assert lost([removed], ends(None)) == () and lost([removed], ends(BASE))[0].what == "a removed file is back"
    assert lost([executable], ends(BASE, mode=EXECUTABLE)) == () and "mode" in lost([executable], ends(BASE))[0].what


def test_a_difference_that_nothing_explains():
    strange = OURS.replace(b"c()", b"d()")
    assert unexplained([EDIT], [PATH], ends(strange)) == (PATH,)
    assert unexplained([EDIT], [PATH], ends(strange, BASE, (PATH, "g"))) == ()
    assert unexplained([], [PATH], ends(strange)) == (PATH,)
    assert unexplained([EDIT], [PATH], replace(ends(strange), diverged={(PATH, "g")})) == ()


def test_a_diverged_entry_is_no_excuse_for_a_lost_edit():
    assert lost([EDIT], replace(ends(BASE), diverged={(PATH, "f")})) != ()


def test_a_name_stands_in_an_import_of_its_own_where_upstream_took_the_others_away():
    base, ours = (b"from p.q import one, two%b\n" % more for more in (b"", b", our_three"))
    wanted = b"from p.r import one, two\n"
    edit = change(base, ours, Hunk(1, 1, 1, 1))
    both = wanted + b"from p.q import our_three\n"
    assert lost([edit], ends(both, wanted)) == () and unexplained([edit], [PATH], ends(both, wanted)) == ()
    assert lost([edit], ends(wanted, wanted)) != ()


def test_what_both_sides_removed_may_be_written_again_elsewhere():
    ours = BASE.replace(b"    b()\n", b"")
    edit = change(BASE, ours, Hunk(3, 1, 2, 0))
    wanted = ours + b"\n\ndef h():\n    b()\n"
    assert lost([edit], ends(wanted, wanted)) == ()
    [found] = lost([edit], ends(BASE, BASE))
    assert found.what == "removed and back: b()"


def test_a_deletion_is_lost_where_upstream_moved_its_function():
    ours = BASE.replace(b"    b()\n", b"")
    edit = change(BASE, ours, Hunk(3, 1, 2, 0))
    moved = b"def g():\n    c()\n\n\ndef f():\n    a()\n    b()\n"
    assert lost([edit], ends(moved.replace(b"    b()\n", b""), moved)) == ()
    assert [x.what for x in lost([edit], ends(moved, moved))] == ["removed and back: b()"]
    renamed = BASE.replace(b"def f", b"def new")
    assert [x.what for x in lost([edit], ends(renamed, renamed))] == ["removed and back: b()"]


ROW = b'ROWS = [{"name": "one", "cards": 8, "deep": 1}]\n'
OUR_ROW = ROW.replace(b'"deep": 1', b'"ours": 1')


def test_an_edit_stands_in_a_line_that_both_sides_wrote_in():
    edit = change(ROW, OUR_ROW, Hunk(1, 1, 1, 1))
    wanted = ROW.replace(b'"cards": 8', b'"cards": 8, "short": 1')
    both = wanted.replace(b'"deep": 1', b'"ours": 1')
    assert lost([edit], ends(both, wanted)) == () and unexplained([edit], [PATH], ends(both, wanted)) == ()


@pytest.mark.parametrize(
    "final",
    [
        b'ROWS = [{"name": "one", "cards": 4, "short": 1}]\n',  # what the fork wrote is gone
        b'ROWS = [{"name": "one", "cards": 4, "ours": 1, "deep": 1}]\n',  # what it struck out is back
    ],
)
def test_a_line_without_the_edit_is_no_place_for_it(final):
    edit = change(ROW, OUR_ROW, Hunk(1, 1, 1, 1))
    assert lost([edit], ends(final, ROW.replace(b"8", b"4"))) != ()


def test_a_generated_file_is_explained_by_its_template():
    def corners(*templates: bytes) -> Ends:
        final, wanted = (MemoryTree({"ci.j2": Blob(t), "ci.yml": Blob(b"# " + t)}) for t in templates)
        return Ends(final, wanted, {}, {}, set(), {"ci.yml": "ci.j2"})

    assert unexplained([EDIT], ["ci.yml"], corners(OURS, BASE)) == ()
    same = corners(BASE, BASE)
    assert unexplained([EDIT], ["ci.yml"], same) == ("ci.yml",)


def test_lines_of_a_conflict_explain_themselves_wherever_they_stand():
    final = OURS.replace(b"    c()\n", b"    old()\n    c()\n")
    corners = [MemoryTree({PATH: Blob(data)}) for data in (final, BASE)]
    assert unexplained([EDIT], [PATH], Ends(*corners, {}, {}, {(PATH, "f")}, {}, {})) == (PATH,)
    assert unexplained([EDIT], [PATH], Ends(*corners, {}, {}, {(PATH, "f")}, {}, {PATH: {b"    old()"}})) == ()
