"""A fork's own edits, laid over an import: from a folder of files, from a fork's repository, or from a patch.

A folder holds files at the paths that they have in the fork; what files cannot say stands in its `overlay.toml`:

    remove = ["docs/en/get_started/quick_start.md"]

    [rename]
    "vime/utils/misc.py" = "vime/utils/small.py"

A folder with most of the import in it, as it was, is an edited copy of the whole: what is missing there was removed.
"""

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, Repo
from sync_tools.modes import EXECUTABLE, REGULAR, SYMLINK
from sync_tools.paths import refuse_collisions, safe
from sync_tools.port.edits import Edits, without_noops
from sync_tools.port.fork import private_index
from sync_tools.port.known import known
from sync_tools.replay.places import Start
from sync_tools.tree import Blob, Tree

LIST = "overlay.toml"
PATCHES = (".patch", ".diff")


class Listed(BaseModel):
    """What `overlay.toml` says: files of the import that go, and files that live elsewhere."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    remove: tuple[str, ...] = Field((), strict=False)
    rename: dict[str, str] = {}


def read_overlay(place: Path, start: Start) -> Edits:
    """The edits that an overlay makes of the import that a replay starts from. Raises SyncError for what cannot be read."""
    if place.is_file() and place.suffix in PATCHES:
        edits = _of_patch(place, start)
    elif not place.is_dir():
        raise SyncError("no such overlay", str(place), "name a folder, a fork's repository, or a .patch file")
    elif (fork := _fork(place)) is not None:
        edits = _of_fork(fork, start)
    else:
        edits = _of_folder(place, start.tree)
    found = without_noops(edits, start.tree)
    if not found:
        raise SyncError("the overlay changes nothing", str(place), "leave --overlay out, or name the edits")
    refuse_collisions(found, start.tree, str(place))
    return found


def _fork(place: Path) -> Repo | None:
    """The repository at a place, if its history has an import; one without (a folder that somebody put under git) is
    what its files are."""
    if (place / ".git").exists() or ((place / "HEAD").is_file() and (place / "objects").is_dir()):
        fork = Repo.open(place)
        if fork.work_tree is None or _roots(fork, "%(trailers:key=Upstream-Commit,valueonly)"):
            return fork
    return None


def _roots(fork: Repo, form: str) -> str:
    """What git's log says of the first commits, in a form; empty where there are none."""
    return fork.line("log", "--max-parents=0", f"--format={form}", "HEAD") if fork.commit_of("HEAD") else ""


def _of_folder(place: Path, tree: Tree) -> Edits:
    listed, files = _listed(place / LIST), {path: blob for path, blob in _files(place) if path != LIST}
    edits: Edits = dict.fromkeys(tree.paths() - files.keys()) if _is_copy(files, tree) else {}
    for path in listed.remove:
        edits[_standing(path, tree, place)] = None
    for old, new in listed.rename.items():
        edits[_standing(old, tree, place)] = None
        edits[safe(new, str(place / LIST))] = tree.blob(old)
    return edits | files


def _is_copy(files: Mapping[str, Blob], tree: Tree) -> bool:
    """Whether more than half of the import's files are there as they were: edits alone leave no file as it was."""
    paths = tree.paths()
    same = sum(path in paths and tree.blob(path) == blob for path, blob in files.items())
    return 2 * same > len(paths)


def _listed(path: Path) -> Listed:
    if not path.is_file():
        return Listed()
    try:
        return Listed.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (ValueError, RecursionError) as e:
        said = e.errors()[0]["msg"] if isinstance(e, ValidationError) else str(e)
        raise SyncError(f"cannot be read: {said}", str(path), "it holds `remove`, a list, and `rename`, a table") from e


def _standing(path: str, tree: Tree, place: Path) -> str:
    if tree.blob(safe(path, str(place / LIST))) is None:
        raise SyncError("the import has no such file", path, f"mend {place / LIST}")
    return path


def _files(place: Path) -> Iterator[tuple[str, Blob]]:
    """The files of a folder by their paths; links are links. What git and Python keep for themselves is none of them."""
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__")]
        files = [name for name in files if name != ".git"]
        for name in sorted([*files, *(f for f in folders if (Path(folder) / f).is_symlink())]):
            path = safe((Path(folder) / name).relative_to(place).as_posix(), str(place))
            if (blob := _blob(place / path)) is not None:
                yield path, blob


def _blob(file: Path) -> Blob | None:
    """A file or link as it stands on the disk; None where neither is there."""
    mode = file.lstat().st_mode if os.path.lexists(file) else 0
    if stat.S_ISLNK(mode):
        return Blob(os.fsencode(file.readlink()), SYMLINK)
    return Blob(file.read_bytes(), EXECUTABLE if mode & stat.S_IXUSR else REGULAR) if stat.S_ISREG(mode) else None


def _of_fork(fork: Repo, start: Start) -> Edits:
    """What a fork did since its import, committed or not; the import must be the one that the replay starts from."""
    where, head = str(fork.work_tree or fork.git_dir), fork.head()
    had = known(fork, head, start.config)
    if had.cutoff != start.upstream_commit or had.commits:
        raise SyncError(
            f"the fork of the overlay is not edits of the import at {start.upstream_commit[:12]} alone",
            where,
            "--from names the commit that it was imported at, and nothing was ported into it since",
        )
    before, after = fork.tree(_roots(fork, "%H").split("\n")[-1]), fork.tree(head)
    changed = {p for p in before.paths() | after.paths() if before.entries.get(p) != after.entries.get(p)}
    edits: Edits = {path: after.blob(path) for path in sorted(changed)}
    return edits | {path: _blob(fork.work_tree / path) for path in _uncommitted(fork) if fork.work_tree}


def _uncommitted(fork: Repo) -> list[str]:
    """The paths that stand otherwise in the folder than in its last commit; what git ignores is not looked at."""
    if fork.work_tree is None:
        return []
    said = os.fsdecode(fork.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"))
    return [safe(line[3:], str(fork.work_tree)) for line in said.split("\0") if line]


def _of_patch(place: Path, start: Start) -> Edits:
    """A patch in git's form, which must apply to the import as it is."""
    repo = start.repo
    with private_index(repo.git_dir / "sync") as index:
        env = {"GIT_INDEX_FILE": str(index)}
        repo.run("read-tree", start.commit, env=env)
        try:
            repo.run("apply", "--cached", "--whitespace=nowarn", "-", data=place.read_bytes(), env=env)
        except GitFailed as e:
            raise SyncError(
                f"the patch does not apply: {e}", str(place), "make it against the import, with git diff"
            ) from e
        after = repo.tree(repo.line("write-tree", env=env))
    before = repo.tree(start.commit)
    changed = {p for p in before.paths() | after.paths() if before.entries.get(p) != after.entries.get(p)}
    return {safe(path, str(place)): after.blob(path) for path in sorted(changed)}
