"""A line of a history belongs to the commit that wrote it, and is met by the first that changes it."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.plan.lines import changed_by, written_by
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.patch import FileDiff, Side


def diff(old: str | None, new: str | None, hunks: tuple[Hunk, ...]) -> FileDiff:
    before, after = (name and Side(name, 0o100644, "0" * 40) for name in (old, new))
    return FileDiff("M", before, after, hunks)


Step = tuple[int, int, int]
STEPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)


def play(steps: list[Step]) -> tuple[list[list[str]], list[tuple[str, tuple[FileDiff, ...]]]]:
    """Images of a file and the diffs between them. Each step cuts some lines at a place and puts new ones, all unique
    and named after their commit; every third one renames the file."""
    image: list[str] = []
    images, diffs, path = [image], [], "f0.py"
    for n, (at, cut, put) in enumerate(steps):
        start = min(at, len(image))
        gone = min(cut, len(image) - start)
        new = image[:start] + [f"{n}.{k}" for k in range(put)] + image[start + gone :]
        there = f"f{n}.py" if n % 3 == 2 else path
        hunk = Hunk(start + 1 if gone else start, gone, start + 1 if put else start, put)
        diffs.append((str(n), (diff(path if n else None, there, (hunk,) if gone or put else ()),)))
        image, path = new, there
        images.append(image)
    return images, diffs


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_a_line_is_the_commits_that_wrote_it(steps):
    images, diffs = play(steps)
    name = diffs[-1][1][0].new
    found = written_by({name: range(len(images[-1]))}, reversed(diffs))
    said = {n: reached.commit for reached in found for lines in reached.lines.values() for n in lines}
    assert said == {n: line.split(".")[0] for n, line in enumerate(images[-1])}


@given(STEPS, st.integers(0, 24))
@settings(max_examples=60, deadline=None)
def test_a_line_is_met_when_it_goes(steps, first):
    images, diffs = play(steps)
    first %= len(steps)
    own = {n for n, line in enumerate(images[first + 1]) if line.startswith(f"{first}.")}
    name = diffs[first][1][0].new
    met = changed_by({name: own}, diffs[first + 1 :])
    gone = {}
    for n in own:
        line = images[first + 1][n]
        gone[n] = next((str(k) for k in range(first + 1, len(steps)) if line not in images[k + 1]), None)
    reached = {each.commit: set(each.lines.get(name, ())) for each in met}
    for n, commit in gone.items():
        assert commit is None or n in reached[commit]
    for commit, lines in reached.items():
        for line in (images[first + 1][n] for n in lines):
            after = images[int(commit) + 1]
            beside = after[max(0, after.index(line) - 1) : after.index(line) + 2] if line in after else []
            assert line in images[int(commit)]
            assert line not in after or any(other.startswith(f"{commit}.") for other in beside)


def test_lines_below_an_insertion_are_found_where_they_stand():
    above = ("1", (diff("a", "a", (Hunk(0, 0, 1, 2),)),))
    on_it = ("2", (diff("a", "a", (Hunk(13, 1, 13, 1),)),))
    past_it = ("3", (diff("a", "a", (Hunk(11, 1, 11, 1),)),))
    assert [(each.commit, dict(each.lines)) for each in changed_by({"a": {10}}, [above, on_it])] == [
        ("2", {"a": (10,)})
    ]
    assert changed_by({"a": {10}}, [above, past_it]) == []


def test_what_is_put_between_two_lines_meets_both_and_what_is_put_beside_them_neither():
    def put(line: int) -> tuple[str, tuple[FileDiff, ...]]:
        return "x", (diff("a", "a", (Hunk(line, 0, line + 1, 2),)),)

    between = changed_by({"a": {3, 4}}, [put(4)])
    assert [dict(each.lines) for each in between] == [{"a": (3, 4)}]
    assert changed_by({"a": {3, 4}}, [put(3)]) == changed_by({"a": {3, 4}}, [put(5)]) == []


def test_git_agrees_on_who_wrote_what(grown, git):
    from sync_tools.gitio import Repo
    from sync_tools.upstream.history import diffs

    text = [f"line {n}" for n in range(40)]
    for n, (at, cut) in enumerate([(0, 0), (5, 2), (20, 0), (0, 3), (33, 4), (10, 1)]):
        text[at : at + cut] = [f"commit {n} {k}" for k in range(3)]
        grown.land(f"step {n} (#{n + 1})", {"a.txt": "\n".join(text) + "\n"})
        if n == 3:
            grown.move("moved (#90)", "a.txt", "b.txt")
            grown.move("and back (#91)", "b.txt", "a.txt")
    blamed = [row[:40] for row in git(grown.at, "blame", "-l", "-s", "--root", "a.txt").split("\n")]
    found = written_by({"a.txt": range(len(blamed))}, diffs(Repo.open(grown.at), "HEAD").items())
    said = {n: each.commit for each in found for lines in each.lines.values() for n in lines}
    assert [said[n] for n in range(len(blamed))] == blamed
    assert Path(grown.at / "a.txt").exists()


def test_what_is_put_beside_a_line_that_was_put_between_counts_still() -> None:
    side = Side("a.py", 0o100644, "0" * 40)
    history = [
        (commit, (FileDiff("M", side, side, (Hunk(at, 0, at + 1, 1),)),)) for commit, at in (("one", 1), ("two", 2))
    ]
    assert [(r.commit, dict(r.lines)) for r in changed_by({"a.py": [0, 1]}, history)] == [
        ("one", {"a.py": (0, 1)}),
        ("two", {"a.py": (1,)}),
    ]
