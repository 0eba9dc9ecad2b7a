"""What the `sync ci` commands do and print."""

from pathlib import Path

from sync_tools.ci.check import check
from sync_tools.ci.commands import CONFIG, Change, add, move, render, write
from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.plural import counted
from sync_tools.port.fork import Fork
from sync_tools.terminal import clean, print_json
from sync_tools.worktree import WorkTree


def rendering(settings: Settings, dry_run: bool) -> int:
    """`sync ci render`."""
    return _apply(settings, render(_tree(settings), settings.config.ci), dry_run)


def adding(settings: Settings, test: str, job: str, num_gpus: int, options: list[str], dry_run: bool) -> int:
    """`sync ci add`."""
    return _apply(settings, add(_tree(settings), settings.config.ci, test, job, num_gpus, options), dry_run)


def moving(settings: Settings, test: str, to: str, origin: str | None, why: str, dry_run: bool) -> int:
    """`sync ci move`; the place is remembered in the configuration that was read."""
    root = _root(settings)
    path = settings.config_path.resolve() if settings.config_path else root / CONFIG
    if not path.is_relative_to(root.resolve()):
        raise SyncError(
            "the configuration lies outside of the fork", str(path), "a place is remembered in the fork's own sync.toml"
        )
    config = path.relative_to(root.resolve()).as_posix()
    return _apply(settings, move(_tree(settings), settings.config.ci, test, to, origin, why, config), dry_run)


def checking(settings: Settings, base: str | None) -> int:
    """`sync ci check`; 1 for problems that `base` did not have."""
    before = settings.repo.tree(Fork(settings.repo).base(base)) if base else None
    found = check(_tree(settings), settings.config.ci, before)
    if settings.json:
        print_json(found.to_json())
    else:
        for problem in found.problems:
            print(clean(f"{problem.path}{' in ' + problem.job if problem.job else ''}: {problem.what}"))
        for problem in found.inherited:
            print(clean(f"inherited: {problem.path}{' in ' + problem.job if problem.job else ''}: {problem.what}"))
        state = "current" if found.current else "not current"
        print(f"the workflow is {state}; {counted(len(found.problems), 'problem')}, {len(found.inherited)} inherited")
    return 1 if found.problems else 0


def _apply(settings: Settings, change: Change, dry_run: bool) -> int:
    if not dry_run:
        write(_root(settings), change.files)
    paths = sorted(change.files)
    if settings.json:
        print_json({"written": [] if dry_run else paths, "would_write": paths if dry_run else []})
    elif not paths:
        print("nothing to do: all is as it should be")
    else:
        print(f"{'would write' if dry_run else 'wrote'} {', '.join(paths)}")
    return 0


def _tree(settings: Settings) -> WorkTree:
    _root(settings)
    return WorkTree(settings.repo)


def _root(settings: Settings) -> Path:
    if settings.repo.work_tree is None:
        raise SyncError("a bare repository has no files", str(settings.repo.git_dir), "use a clone with a work tree")
    return settings.repo.work_tree
