"""Which changes belong with one."""

from sync_tools.plan.companions import by_file, by_mention
from sync_tools.plan.model import Change
from sync_tools.upstream.history import Message
from sync_tools.upstream.patch import FileDiff, Side

REPO = "THUDM/slime"


def message(n: int, author: str = "ada", body: str = "") -> Message:
    return Message(f"{n:040x}", n, f"Change {n} (#{n})", body, author, n)


def edit(path: str) -> FileDiff:
    side = Side(path, 0o100644, "0" * 40)
    return FileDiff("M", side, side)


def beside(theirs: list[str], author: str = "ada", told: tuple[int, ...] = ()) -> list[int | None]:
    """The companions of #2, which touches a.py and b.py, where #1 touches `theirs`."""
    line = (message(2), message(1, author))
    touched = {message(1).commit: [edit(path) for path in theirs]}
    named = {message(n).commit for n in told}
    change = Change(2, message(2).commit, "")
    return [c.change.pr for c in by_file(change, {"slime/a.py", "slime/b.py"}, line, touched, named)]


def test_half_of_the_smaller_change_is_on_the_same_files() -> None:
    assert beside(["slime/a.py", "slime/c.py"]) == [1]
    assert beside(["slime/a.py"]) == [1]
    assert beside(["slime/c.py", "slime/d.py"]) == []


def test_one_file_of_many_makes_no_companion() -> None:
    line = (message(2), message(1))
    ours = {f"slime/{name}.py" for name in "abc"}
    touched = {message(1).commit: [edit(f"slime/{name}.py") for name in "axyz"]}
    assert by_file(Change(2, message(2).commit, ""), ours, line, touched, ()) == ()


def test_others_and_what_is_told_already_are_left_out() -> None:
    assert beside(["slime/a.py"], author="bob") == []
    assert beside(["slime/a.py"], told=(1,)) == []
    assert beside([".github/workflows/test.yml"]) == []


def test_mentions_run_both_ways() -> None:
    line = (message(3, body="Follows #2."), message(2, body="See #1 and #999."), message(1))
    found = by_mention(Change(2, message(2).commit, ""), line, REPO)
    assert [c.change.pr for c in found] == [1, 999, 3]
    assert "not on the main line" in found[1].why
