"""Whether a landing is in the fork, by what stands in its files."""

from pathlib import Path

import pytest
from adopt_world import World, world
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sync_tools.config import Config, PathPolicy

OLD = "import os\n\n\ndef take(items):\n    first = items[0]\n    return first\n\n\ndef count(items):\n    return len(items)\n"
FIXED = OLD.replace("first = items[0]", "first = items[0] if items else None")
MORE = FIXED.replace("return len(items)", "total = sum(1 for _ in items)\n    return total")
DOC = "# How to run\n\nStart it with `run.sh`.\n"


@pytest.fixture
def line(tmp_path: Path) -> World:
    """A fix, then a change of another function with a line of documentation."""
    return world(
        tmp_path / "slime",
        {"slime/a.py": OLD, "docs/run.md": DOC},
        {"slime/a.py": FIXED, "docs/run.md": DOC},
        {"slime/a.py": MORE, "docs/run.md": DOC + "\nCounting takes any iterable now.\n"},
    )


@pytest.mark.parametrize(("at", "states"), [(0, ["absent"] * 2), (1, ["landed", "absent"]), (2, ["landed"] * 2)])
def test_a_fork_has_exactly_what_it_was_imported_with(line: World, at: int, states: list[str]) -> None:
    assert line.states(line.fork(at)) == states


def test_a_fix_whose_old_lines_all_stand_is_intact(line: World) -> None:
    fixed, more = line.survey(line.fork(0)).verdicts
    assert fixed.intact and more.intact
    assert (fixed.total.held, fixed.total.written, fixed.total.gone, fixed.total.removed) == (0, 1, 0, 1)
    assert not line.survey(line.fork(1)).verdicts[0].intact


def test_a_part_that_did_not_arrive_is_named(line: World) -> None:
    verdict = line.survey(line.fork(2) | {"docs/run.md": DOC}).verdicts[1]
    assert verdict.state == "partly"
    assert [(p.path, p.state) for p in verdict.paths] == [("docs/run.md", "absent"), ("vime/a.py", "landed")]


def test_a_fork_that_moved_the_code_has_it_all_the_same(line: World) -> None:
    fork = line.fork(2)
    fork["vime/taking.py"] = str(fork.pop("vime/a.py")).replace("import os\n", "import os\nimport sys\n")
    assert line.states(fork) == ["landed", "landed"]


def test_a_fork_laid_out_otherwise_has_it(line: World) -> None:
    indented = MORE.replace("    total = sum", "    if items:\n        total = sum").replace(
        "    return total", "        return total"
    )
    assert line.states(line.fork(2) | {"vime/a.py": indented}) == ["landed", "landed"]


def test_a_file_that_the_fork_lacks_has_nothing_of_what_was_added(line: World) -> None:
    fork = line.fork(2)
    del fork["vime/a.py"]
    assert line.states(fork) == ["absent", "partly"]


@pytest.fixture
def replaced(tmp_path: Path) -> World:
    """The second landing replaces all that the first one wrote."""
    first, second = OLD.replace("items[0]", "next(iter(items))"), OLD.replace("items[0]", "min(items, default=None)")
    return world(tmp_path / "slime", {"slime/a.py": OLD}, {"slime/a.py": first}, {"slime/a.py": second})


def test_what_a_later_landing_replaced_is_superseded_where_that_is_here(replaced: World) -> None:
    found = replaced.survey(replaced.fork(2)).verdicts
    assert [v.state for v in found] == ["superseded", "landed"]
    assert found[0].by == (1,)


def test_what_a_later_landing_replaces_is_landed_until_then(replaced: World) -> None:
    assert replaced.states(replaced.fork(1)) == ["landed", "absent"]
    assert replaced.states(replaced.fork(0)) == ["absent", "absent"]


def test_what_a_replaced_landing_removed_must_be_gone_before_it_is_superseded(tmp_path: Path) -> None:
    """Its new lines are replaced by what the fork has; a line that it took away elsewhere still stands there."""
    count = "\n\ndef count(items):\n    return len(items)\n"
    first, second = OLD.replace("items[0]", "next(iter(items))"), OLD.replace("items[0]", "min(items, default=None)")
    made = world(
        tmp_path / "slime",
        {"slime/a.py": OLD},
        {"slime/a.py": first.replace(count, "")},
        {"slime/a.py": second.replace(count, "")},
    )
    assert made.states(made.fork(2)) == ["superseded", "landed"]
    assert made.states({"vime/a.py": second}) == ["partly", "landed"]


def test_a_line_that_came_back_in_between_says_nothing_of_its_first_removal(tmp_path: Path) -> None:
    note, one, two = "# measured by hand\n", "LIMIT = 1\n", "BOUND = 2\n"
    texts = [note + OLD, one + OLD, note + one + OLD, two + one + OLD]
    made = world(tmp_path / "slime", *({"slime/a.py": text} for text in texts))
    assert made.states(made.fork(2)) == ["landed", "landed", "absent"]


def test_what_was_written_and_removed_again_is_not_here_because_it_never_was(tmp_path: Path) -> None:
    added = OLD + "\n\ndef debug(items):\n    print('items are', items)\n"
    made = world(tmp_path / "slime", {"slime/a.py": OLD}, {"slime/a.py": added}, {"slime/a.py": OLD})
    assert made.states(made.fork(0)) == ["absent", "absent"]
    assert made.states(made.fork(1)) == ["landed", "absent"]


def test_renames_deletions_and_files_without_lines(tmp_path: Path) -> None:
    start = {"slime/a.py": OLD, "slime/old.py": MORE, "logo.png": b"\0one"}
    moved = {"slime/b.py": OLD, "slime/old.py": MORE, "logo.png": b"\0one"}
    gone = {"slime/b.py": OLD, "logo.png": b"\0one"}
    drawn = {"slime/b.py": OLD, "logo.png": b"\0two"}
    made = world(tmp_path / "slime", start, moved, gone, drawn)
    assert made.states(made.fork(0)) == ["absent"] * 3
    assert made.states(made.fork(1)) == ["landed", "absent", "absent"]
    assert made.states(made.fork(2)) == ["landed", "landed", "absent"]
    assert made.states(made.fork(3)) == ["landed"] * 3


def test_what_policies_say_does_not_count(tmp_path: Path) -> None:
    made = world(
        tmp_path / "slime",
        {"slime/a.py": OLD, "notes.txt": "one\n"},
        {"slime/a.py": OLD, "notes.txt": "one note more\n"},
        {"slime/a.py": FIXED, "notes.txt": "another note\n"},
    )
    skip = Config(policies=(PathPolicy(match="notes.txt", action="skip", reason="not ours"),))
    assert made.states(made.fork(0) | {"vime/a.py": FIXED}, skip) == ["skipped", "landed"]
    own = Config(policies=(PathPolicy(match="notes.txt", action="owned", reason="ours alone"),))
    assert made.states(made.fork(0) | {"vime/a.py": FIXED}, own) == ["absent", "landed"]


def test_brackets_and_blank_lines_prove_nothing(tmp_path: Path) -> None:
    call = "x = call(\n    one_argument,\n)\n"
    made = world(tmp_path / "slime", {"slime/a.py": OLD}, {"slime/a.py": OLD + "\n\n" + call})
    assert made.states(made.fork(0) | {"vime/a.py": OLD + "\n\ny = other(\n)\n"}) == ["absent"]


def test_bytes_that_are_no_text_come_through(tmp_path: Path) -> None:
    latin, crlf = "größe = 1\n".encode("latin-1"), b"one = 1\r\ntwo = 2\r\n"
    made = world(tmp_path / "slime", {"slime/a.py": b"", "b.txt": b"x"}, {"slime/a.py": latin, "b.txt": crlf})
    assert made.states(made.fork(1)) == ["landed"]
    assert made.states(made.fork(0)) == ["absent"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(0, 30), max_size=8), min_size=2, max_size=5), st.data())
def test_what_is_imported_at_a_landing_is_never_behind_it(tmp_path_factory, lines, data) -> None:
    """Every landing up to an import is there, whatever later ones made of its lines but the one that it leaves for good."""
    stays = ["".join(f"landing {i} was here\n" for i in range(1, n + 1)) for n in range(len(lines))]
    moves = ["".join(f"the value {n} of {i}\n" for i, n in enumerate(part)) for part in lines]
    trees = [{"slime/a.txt": move + stay} for move, stay in zip(moves, stays, strict=True)]
    made = world(tmp_path_factory.mktemp("law") / "slime", *trees)
    at = data.draw(st.integers(0, len(trees) - 1))
    assert all(state in ("landed", "superseded") for state in made.states(made.fork(at))[:at])
