"""A port that waits for a person: a work tree with the conflicts in it, and what is needed to go on from there.

It lies inside the git directory. The state names the work tree and is written last, in one step: whatever a crash left
before that is rubbish that the next port clears away, and what a person resolved stands until its successor does.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, Repo
from sync_tools.merge.markers import conflict_regions
from sync_tools.port.commits import store, write_tree
from sync_tools.port.fork import Fork, private_index
from sync_tools.port.request import Request
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
    are the conflicts without markers: a file kept or deleted, a binary, a link. `laid` is the tree of the work tree as
    it was laid out, in the folder `place`. `window` are the
    cutoff and the tip of landings that are ported at once."""

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
    laid: str = ""
    place: str = ""
    window: tuple[str, ...] = ()

    def recall(self, request: Request) -> Request:
        """A request to go on, with what was asked for at the start."""
        return replace(
            request,
            name=self.name,
            bring=self.bring,
            upstream=request.upstream or self.upstream,
            config=request.config or (Path(self.config) if self.config else None),
        )


def slug(branch: str) -> str:
    """A branch's name as one folder's."""
    return re.sub(r"[^\w.-]+", "-", branch)


def folder(fork: Fork, branch: str) -> Path:
    """Where the waiting port of a branch lies."""
    return fork.home / "paused" / slug(branch)


def work_tree(fork: Fork, state: State) -> Path:
    """The work tree of a waiting port."""
    return folder(fork, state.branch) / state.place


def pause(
    fork: Fork, state: State, mechanical: str, final: Mapping[str, Blob | None], stages: Mapping[str, Stages]
) -> Path:
    """Lay out the work tree on the mechanical commit, with `final` applied and the conflicts staged; its path.

    It takes the place of the one that waited for the same branch."""
    home = folder(fork, state.branch)
    home.mkdir(parents=True, exist_ok=True)
    place = next(p for n in count(1) if not (p := home / ("tree" if n == 1 else f"tree-{n}")).exists())
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
    state = replace(state, laid=tree, place=place.name)
    target = home / "state.json"
    scratch = target.with_suffix(".part")
    scratch.write_text(json.dumps({"schema": 1, **asdict(state)}, indent=1), "utf-8")
    scratch.replace(target)
    for earlier in home.glob("tree*"):
        if earlier != place:
            shutil.rmtree(earlier, ignore_errors=True)
    fork.repo.run("worktree", "prune")
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
    return _read(_waiting(fork, branch) / "state.json")


def _waiting(fork: Fork, branch: str | None) -> Path:
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
    return home / wanted[0]


def _read(path: Path) -> State:
    try:
        raw = json.loads(path.read_text("utf-8"))
        raw.pop("schema")
        lists = ("done", "conflicts", "undecided", "bring", "window")
        return State(
            **{**raw, **{k: tuple(raw[k]) for k in lists}, "landings": tuple((pr, c) for pr, c in raw["landings"])}
        )
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise SyncError(
            "the state of a waiting port cannot be read", str(path), "vime-sync port --abort, then port again"
        ) from e


def resolved(fork: Fork, state: State) -> dict[str, Blob | None]:
    """The work tree's files, where they differ from the commit below. Raises SyncError while a conflict is left."""
    place = work_tree(fork, state)
    here = Repo(fork.repo.git_dir, place)
    try:
        unmerged = _undecided(here)
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
    return _differences(fork, here, state.tip)


def refuse_worked_on(fork: Fork, branch: str) -> None:
    """Raises SyncError where a person has begun to resolve the port that waits for a branch: a new one would replace it."""
    target = folder(fork, branch) / "state.json"
    if not target.exists():
        return
    state = _read(target)
    place = work_tree(fork, state)
    here = Repo(fork.repo.git_dir, place)
    try:
        worked_on = _undecided(here) != set(state.conflicts) or _differences(fork, here, state.laid)
    except GitFailed:  # the work tree is gone, and nothing is lost with it
        return
    if worked_on:
        raise SyncError(
            f"a port waits for {branch}, and somebody has begun to resolve it",
            str(place),
            "finish it with --continue, or give it up with --abort",
        )


def _undecided(here: Repo) -> set[str]:
    return {os.fsdecode(r.split(b"\t", 1)[1]) for r in here.run("ls-files", "-u", "-z").split(b"\0") if r}


def _differences(fork: Fork, here: Repo, rev: str) -> dict[str, Blob | None]:
    """The work tree's files, where they differ from a commit or tree."""
    with private_index(fork.home) as index:
        # Of the work tree's own index nothing is taken but the conflicts above, and it is left as it is.
        env = {"GIT_INDEX_FILE": str(index)}
        here.run("read-tree", rev, env=env)
        here.run("add", "--all", env=env)
        out = here.run("diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", rev, "--", env=env)
    fields, found = iter(out.split(b"\0")), {}
    for head in fields:
        if head:
            _, mode, _, oid, _ = head.decode().lstrip(":").split()
            path = os.fsdecode(next(fields))
            found[path] = Blob(fork.repo.read(oid), int(mode, 8)) if int(mode, 8) else None
    return found


def abort(fork: Fork, branch: str | None) -> str:
    """Give up the port that waits for a branch, or the only one there is, readable or not; the name that it goes by."""
    place = _waiting(fork, branch)
    try:
        name = _read(place / "state.json").branch
    except SyncError:
        name = place.name
    _remove(fork, place)
    return name


def discard(fork: Fork, branch: str) -> None:
    """Remove the work tree and the state of a branch's waiting port, if there is one."""
    if (place := folder(fork, branch)).exists():
        _remove(fork, place)


def _remove(fork: Fork, place: Path) -> None:
    (place / "state.json").unlink(missing_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    fork.repo.run("worktree", "prune")
