"""Edits all over a fork, most of them near upstream's, and upstream's changes on top: none is lost, none merged wrong in silence.

The oracle counts lines: a file that merged without a conflict holds the fork's lines, less those that upstream removed, and
those that upstream added.
"""

import ast
import json
import random
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from sync_tools.demo.forks import parent_of

STACK = (1920, 1921, 1926, 1930)
REGION = re.compile(rb"<<<<<<<[^\n]*\n(.*?)\|\|\|\|\|\|\|[^\n]*\n.*?=======\n.*?>>>>>>>[^\n]*\n", re.S)
MADE_AGAIN = ".github/workflows/pr-test.yml"


def files(root: Path) -> dict[str, bytes]:
    found = (p for p in root.rglob("*") if p.is_file() and not p.is_symlink() and ".git" not in p.parts)
    named = {str(p.relative_to(root)): p.read_bytes() for p in found}
    return {path: data for path, data in named.items() if not path.startswith((MADE_AGAIN, "ledgers/"))}


def lines(data: bytes) -> Counter[bytes]:
    """Blank ones set aside: between definitions they are layout."""
    return Counter(line for line in data.splitlines() if line.strip())


def places(upstream: Path, before: dict[str, bytes], after: dict[str, bytes]) -> list[tuple[str, int]]:
    """(path, line) near what changes between two imports."""
    found = []
    for path in sorted(before):
        if before[path] != after.get(path):
            old, new = before[path].splitlines(), lines(after.get(path, b""))
            found += [(path, at) for at, line in enumerate(old) if line not in new or at == 0]
    return found


def edited(kind: str, path: str, text: str, at: int, mark: str, rng: random.Random) -> str | None:
    rows = text.splitlines(keepends=True)
    if kind == "insert":
        indent = re.match(r" *", rows[at])[0] if path.endswith(".py") else ""
        rows.insert(at, f"{indent}{mark} = 1\n" if path.endswith(".py") else f"# {mark}\n")
    elif kind == "change":
        rows[at] = f"{rows[at].rstrip()}  # {mark}\n"
    elif kind == "delete":
        del rows[at]
    else:
        functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)] if path.endswith(".py") else []
        functions = [n for n in functions if not n.decorator_list]
        if not functions:
            return None
        chosen = rng.choice(functions)
        span = slice(chosen.lineno - 1, chosen.end_lineno)
        rows = [*rows[: span.start], *rows[span.stop :], "\n", "\n", *rows[span]]
    new = "".join(rows)
    try:
        return new if not path.endswith(".py") or ast.parse(new) else None
    except SyntaxError:
        return None


def edit(fork: Path, near: list[tuple[str, int]], rng: random.Random, count: int) -> set[str]:
    """Edits of every kind; the marks of those that carry one."""
    anywhere, marks = sorted(files(fork)), set()
    for number in range(count):
        path, at = rng.choice(near) if rng.random() < 0.7 else (rng.choice(anywhere), rng.randrange(200))
        data, mark, kind = (
            (fork / path).read_bytes(),
            f"ours_{number}_",
            rng.choice(["insert", "change", "delete", "move"]),
        )
        if b"\r" in data or not data.endswith(b"\n") or not data.isascii():
            continue
        at = min(max(0, at + rng.randint(-3, 3)), data.count(b"\n") - 1)
        new = edited(kind, path, data.decode(), at, mark, rng)
        if new:
            (fork / path).write_text(new)
            marks.add(mark)
    standing = b"".join(files(fork).values())
    return {mark for mark in marks if mark.encode() in standing}


def take_ours(place: Path) -> None:
    out = subprocess.run(["git", "-C", place, "ls-files", "-uz"], capture_output=True, text=True, check=True).stdout
    for path in {record.split("\t")[1] for record in out.split("\0") if record}:
        (place / path).write_bytes(REGION.sub(rb"\1", (place / path).read_bytes()))
        subprocess.run(["git", "-C", place, "add", path], check=True)


def wrong(ours: bytes | None, base: bytes | None, theirs: bytes | None, now: bytes | None) -> str | None:
    """What is wrong with a file that was merged without a conflict."""
    if base == theirs or ours == base:
        expected = ours if base == theirs else theirs
        return None if now == expected else "one side alone changed it, and it is not that side's"
    if ours is None or base is None or theirs is None or now is None:
        return "a file that both sides changed appeared or vanished"
    wanted = lines(ours)
    wanted.subtract(lines(base))
    wanted.update(lines(theirs))
    return None if +wanted == lines(now) else f"lines: {lines(now) - wanted} too many, {wanted - lines(now)} missing"


@pytest.mark.parametrize("seed", [1, 6])
def test_no_edit_is_lost_and_none_is_merged_wrong_in_silence(seed, sync, imported, imports, upstream, git):
    fork, rng = imported(STACK[0]), random.Random(seed)
    revisions = [parent_of(upstream, STACK[0]), *(commit_of(upstream, number, git) for number in STACK)]
    images = [files(imports(revision)) for revision in revisions]
    marks = edit(fork, places(upstream, images[0], images[-1]), rng, 24)
    git(fork, "commit", "-qam", "Ours")
    assert len(marks) > 5
    for number, base, theirs in zip(STACK, images[:-1], images[1:], strict=True):
        ours = files(fork)
        value = json.loads(sync("port", number, "--json", repo=fork, upstream=upstream).out)
        told = value["ports"][0]
        assert told["lines"]["accounted"] == told["lines"]["added"] + told["lines"]["removed"]
        if value["worktree"]:
            take_ours(Path(value["worktree"]))
            value = json.loads(sync("port", "--continue", "--json", repo=fork, upstream=upstream).out)
        git(fork, "merge", "-q", "--ff-only", value["branch"])
        now, conflicts = files(fork), {c["path"] for c in told["conflicts"]}
        moved = {path for path in base.keys() ^ theirs.keys() if path in ours or path in now}
        for path in (ours.keys() | theirs.keys() | now.keys()) - conflicts - moved:
            said = wrong(ours.get(path), base.get(path), theirs.get(path), now.get(path))
            assert said is None, f"#{number} {path}: {said}"
        standing = b"".join(now.values())
        assert [mark for mark in sorted(marks) if mark.encode() not in standing] == []
    assert sync("ledger", "check", repo=fork, upstream=upstream).code == 0


def commit_of(upstream: Path, number: int, git) -> str:
    return git(upstream, "log", "-1", "--format=%H", f"--grep=(#{number})$", "main")
