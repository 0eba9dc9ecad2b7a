"""A port that waits for a person: a work tree with the conflicts in it, and what is needed to go on from there.

It lies inside the git directory. The state is written last, so that whatever was left by a crash before is rubbish
that the next port clears away.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, Repo
from sync_tools.merge.markers import conflict_regions
from sync_tools.port.commits import store, write_tree
from sync_tools.port.fork import Fork, private_index
from sync_tools.tree import Blob


@dataclass(frozen=True)
class Stages:
    """The three sides of a path in conflict; None where a side has no file."""

    base: Blob | None
    ours: Blob | None
    theirs: Blob | None


@dataclass(frozen=True)
class State:
    """Everything that `--continue` needs. `tip` is the commit that the paused pull request is ported onto; `undecided`
    are the conflicts without markers: a file kept or deleted, a binary, a link."""

    branch: str
    base: str
    tip: str
    done: tuple[str, ...]
    landings: tuple[tuple[int | None, str], ...]
    conflicts: tuple[str, ...]
    undecided: tuple[str, ...]
    name: str | None
    bring: tuple[str, ...]
    upstream: str | None
    config: str | None


def slug(branch: str) -> str:
    """A branch's name as one folder's."""
    return re.sub(r"[^\w.-]+", "-", branch)


def folder(fork: Fork, branch: str) -> Path:
    """Where the waiting port of a branch lies."""
    return fork.home / "paused" / slug(branch)


def work_tree(fork: Fork, branch: str) -> Path:
    """The work tree of a waiting port."""
    return folder(fork, branch) / "tree"


def pause(
    fork: Fork, state: State, mechanical: str, final: Mapping[str, Blob | None], stages: Mapping[str, Stages]
) -> Path:
    """Lay out the work tree on the mechanical commit, with `final` applied and the conflicts staged; its path."""
    discard(fork, state.branch)
    place = work_tree(fork, state.branch)
    place.parent.mkdir(parents=True)
    fork.repo.run("worktree", "add", "--quiet", "--detach", "--no-checkout", str(place), mechanical)
    tree = write_tree(fork.repo, state.tip, final)
    here = Repo(fork.repo.git_dir, place)
    here.run("read-tree", tree)
    here.run("checkout-index", "--all", "--force", "--quiet")
    here.run(
        "update-index",
        "-z",
        "--index-info",
        data=b"".join(_unmerged(fork.repo, path, sides) for path, sides in sorted(stages.items())),
    )
    target = folder(fork, state.branch) / "state.json"
    scratch = target.with_suffix(".part")
    scratch.write_text(json.dumps({"schema": 1, **asdict(state)}, indent=1), "utf-8")
    scratch.replace(target)
    return place


def _unmerged(repo: Repo, path: str, sides: Stages) -> bytes:
    name = os.fsencode(path)
    lines = [b"0 " + b"0" * 40 + b"\t" + name + b"\0"]
    for number, blob in enumerate((sides.base, sides.ours, sides.theirs), 1):
        if blob is not None:
            lines.append(f"{blob.mode:o} {store(repo, blob)} {number}\t".encode() + name + b"\0")
    return b"".join(lines)


def find(fork: Fork, branch: str | None) -> State:
    """The paused port of a branch, or the only one there is. Raises SyncError."""
    home = fork.home / "paused"
    waiting = sorted(p.parent.name for p in home.glob("*/state.json")) if home.is_dir() else []
    wanted = [name for name in waiting if branch is None or name == slug(branch)]
    if not wanted:
        raise SyncError(
            "no port is waiting" + (f" for {branch}" if branch else ""), str(home), "start one with vime-sync port N"
        )
    if len(wanted) > 1:
        raise SyncError(
            f"several ports are waiting: {', '.join(wanted)}", str(home), "name one: vime-sync port N --continue"
        )
    return _read(home / wanted[0] / "state.json")


def _read(path: Path) -> State:
    try:
        raw = json.loads(path.read_text("utf-8"))
        raw.pop("schema")
        lists = ("done", "conflicts", "undecided", "bring")
        return State(
            **{**raw, **{k: tuple(raw[k]) for k in lists}, "landings": tuple((pr, c) for pr, c in raw["landings"])}
        )
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise SyncError(
            "the state of a waiting port cannot be read", str(path), "vime-sync port --abort, then port again"
        ) from e


def resolved(fork: Fork, state: State) -> dict[str, Blob | None]:
    """The work tree's files, where they differ from the commit below. Raises SyncError while a conflict is left."""
    place = work_tree(fork, state.branch)
    here = Repo(fork.repo.git_dir, place)
    try:
        unmerged = {os.fsdecode(r.split(b"\t", 1)[1]) for r in here.run("ls-files", "-u", "-z").split(b"\0") if r}
    except GitFailed as e:
        raise SyncError(
            "the work tree of the waiting port is gone", str(place), "vime-sync port --abort, then port again"
        ) from e
    for path in state.conflicts:
        file = place / path
        if file.is_file() and not file.is_symlink() and (regions := conflict_regions(file.read_bytes())):
            raise SyncError("conflict markers are left", f"{path}:{regions[0][0] + 1}", "resolve them, then --continue")
        if path in state.undecided and path in unmerged:
            raise SyncError("not decided yet", path, f"in {place}: git add it to keep it, or git rm it")
    with private_index(fork.home) as index:
        # Of the work tree's own index nothing is taken but the conflicts above, and it is left as it is.
        env = {"GIT_INDEX_FILE": str(index)}
        here.run("read-tree", state.tip, env=env)
        here.run("add", "--all", env=env)
        out = here.run("diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", state.tip, "--", env=env)
    fields, found = iter(out.split(b"\0")), {}
    for head in fields:
        if head:
            _, mode, _, oid, _ = head.decode().lstrip(":").split()
            path = os.fsdecode(next(fields))
            found[path] = Blob(fork.repo.read(oid), int(mode, 8)) if int(mode, 8) else None
    return found


def discard(fork: Fork, branch: str) -> bool:
    """Remove the work tree and the state of a branch's waiting port; whether there was anything."""
    place = folder(fork, branch)
    if not place.exists():
        return False
    (place / "state.json").unlink(missing_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    fork.repo.run("worktree", "prune")
    return True
