"""A replay from end to end: import, overlay, every commit of the window, and the comparison with the import at its tip."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sync_tools.ci.paths import locate
from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.imported import AS_WRITTEN, new_repository
from sync_tools.importer import translated_tree
from sync_tools.port.arrange import Progress
from sync_tools.port.commits import commit, write_tree
from sync_tools.port.edits import Edits, without_noops
from sync_tools.port.fork import Fork
from sync_tools.port.request import Request
from sync_tools.port.session import Places, Run
from sync_tools.replay.lost import Ends, Lost, lost, unexplained
from sync_tools.replay.overlay import read_overlay
from sync_tools.replay.places import Start
from sync_tools.replay.walk import Clash, Crash, Walk
from sync_tools.upstream.changeset import FileChange, Person
from sync_tools.upstream.collect import collect
from sync_tools.upstream.mirror import cache_dir
from sync_tools.upstream.resolve import Landing
from sync_tools.upstream.window import Window, window

MAIN, IMPORT = "main", "import"


@dataclass(frozen=True)
class Task:
    """What to replay, and where: `workdir` becomes a repository with the replay on `main` and the import at the tip on
    the branch `import`."""

    first: str
    last: str
    workdir: Path
    overlay: Path | None = None


@dataclass(frozen=True)
class Replayed:
    """What came of it. `done` is less than `commits` where it was interrupted; then nothing was compared."""

    commits: int
    prs: int
    done: int
    crashed: tuple[Crash, ...]
    conflicts: tuple[Clash, ...]
    unaccounted: int
    final_tree_diff: tuple[str, ...]
    overlay_lost: tuple[Lost, ...]
    seconds: float

    @property
    def interrupted(self) -> bool:
        return self.done < self.commits

    @property
    def clean(self) -> bool:
        """Laws 2 and 3 hold."""
        whole = not self.interrupted and not self.crashed and not self.unaccounted
        return whole and not self.final_tree_diff and not self.overlay_lost


def replay(task: Task, upstream: Repo, config: Config, progress: Progress = lambda _: None) -> Replayed:
    """Replay a window in a new folder. Raises SyncError, with nothing written, for wrong ends and a folder in use."""
    began = time.monotonic()
    span = window(upstream, task.first, task.last)
    _refuse_used(task.workdir)
    progress("importing the tree to start from")
    start = _start(task, upstream, span, config)
    fork = Fork(start.repo)
    committer = fork.committer()
    tip = start.commit
    if task.overlay:
        tip = _commit(fork, tip, _edits(task.overlay, start), "Lay the fork's own edits over the import", committer)
    edits = collect(start.repo, Landing(None, tip)).files if task.overlay else ()
    run = Run(Request(), Places(config, upstream, fork), MAIN, tip, committer, progress)
    with fork.lock():
        walk = Walk(tip, start.repo.tree(tip))
        with run.reading(span.landings, walk.tree) as reader:
            walk.over(span.landings, reader)
        try:
            found: tuple[tuple[str, ...], tuple[Lost, ...]] = ((), ())
            if not walk.interrupted:
                progress("comparing with the import at the tip")
                found = _compared(walk, edits, start, span, upstream)
        finally:
            _show(start.repo, walk.tip)
    return Replayed(
        commits=len(span.landings),
        prs=sum(landing.pr is not None for landing in span.landings),
        done=walk.done,
        crashed=tuple(walk.crashed),
        conflicts=tuple(walk.conflicts),
        unaccounted=walk.unaccounted,
        final_tree_diff=found[0],
        overlay_lost=found[1],
        seconds=round(time.monotonic() - began, 3),
    )


def _refuse_used(workdir: Path) -> None:
    if workdir.exists() and (not workdir.is_dir() or any(workdir.iterdir())):
        raise SyncError("the folder is not empty", str(workdir), "name a new folder with --workdir")
    here = workdir.absolute()
    nearest = next(place for place in (here, *here.parents) if place.is_dir())
    try:
        Repo.open(nearest)
    except SyncError:
        return
    raise SyncError("the folder lies in a repository", str(workdir), "name a folder outside of it with --workdir")


def _edits(overlay: Path, start: Start) -> Edits:
    """The overlay's edits. It is read against the import, which goes again where it cannot be: nothing was done."""
    try:
        return read_overlay(overlay, start)
    except BaseException:
        if start.repo.work_tree:
            shutil.rmtree(start.repo.work_tree)
        raise


def _start(task: Task, upstream: Repo, span: Window, config: Config) -> Start:
    """The import, in a folder that is new even if another replay made it meanwhile: nothing is written into that one's."""
    tree = translated_tree(upstream, span.cutoff, config, cache=cache_dir() / "translations")
    subject = f"Import {config.upstream.repo}@{tree.commit[:12]}"
    commit = new_repository(task.workdir, tree.blobs, subject, {"Upstream-Commit": tree.commit})
    return Start(Repo.open(task.workdir), commit, span.cutoff, config)


def _commit(fork: Fork, parent: str, edits: Edits, subject: str, by: Person) -> str:
    message = f"{subject}\n\nSigned-off-by: {by.name} <{by.email}>\n"
    return commit(fork.repo, write_tree(fork.repo, parent, edits), parent, message, None)


def _compared(
    walk: Walk, edits: Sequence[FileChange], start: Start, span: Window, upstream: Repo
) -> tuple[tuple[str, ...], tuple[Lost, ...]]:
    """(the paths that differ, the edits that are lost); the import at the tip is left on its branch."""
    repo, config = start.repo, start.config
    wanted = translated_tree(upstream, span.tip, config, cache=cache_dir() / "translations")
    changes: Edits = dict.fromkeys(start.tree.paths() - wanted.blobs.keys()) | dict(wanted.blobs)
    fork = Fork(repo)
    theirs = _commit(
        fork,
        start.commit,
        without_noops(changes, start.tree),
        f"Import {config.upstream.repo}@{span.tip[:12]}",
        fork.committer(),
    )
    repo.run("update-ref", f"refs/heads/{IMPORT}", theirs)
    ours, there = repo.tree(walk.tip), repo.tree(theirs)
    ledgers = config.ledgers.rstrip("/") + "/"
    differing = [
        p
        for p in sorted(ours.paths() | there.paths())
        if ours.entries.get(p) != there.entries.get(p) and not p.startswith(ledgers)
    ]
    explained = {(c.path, c.symbol) for c in walk.conflicts} | walk.left
    if not edits:
        return tuple(differing), ()
    template = locate(ours.paths(), config.ci).template
    rendered = {config.ci.workflow: template} if template else {}
    ends = Ends(ours, there, walk.moved, walk.renamed, explained, rendered, walk.disputed, walk.diverged)
    return unexplained(edits, differing, ends), lost(edits, ends)


def _show(repo: Repo, tip: str) -> None:
    """The replay so far, on its branch and checked out."""
    repo.run("update-ref", "-m", "sync replay", f"refs/heads/{MAIN}", tip)
    repo.run(*AS_WRITTEN, "reset", "--hard", "--quiet", MAIN)
