"""A fork's own edits, laid over an import: from a folder of files, from the history of a fork, or from a patch.

A folder holds files at the paths that they have in the fork; what files cannot say stands in its `overlay.toml`:

    remove = ["docs/en/get_started/quick_start.md"]

    [rename]
    "vime/utils/misc.py" = "vime/utils/small.py"
"""

import os
import stat
import tomllib
from collections.abc import Iterator
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
    elif _is_repository(place):
        edits = _of_repository(Repo.open(place), start)
    else:
        edits = _of_folder(place, start.tree)
    found = without_noops(edits, start.tree)
    if not found:
        raise SyncError("the overlay changes nothing", str(place), "leave --overlay out, or name the edits")
    refuse_collisions(found, start.tree, str(place))
    return found


def _is_repository(place: Path) -> bool:
    return (place / ".git").exists() or ((place / "HEAD").is_file() and (place / "objects").is_dir())


def _of_folder(place: Path, tree: Tree) -> Edits:
    listed = _listed(place / LIST)
    edits: Edits = {}
    for path in listed.remove:
        edits[_standing(path, tree, place)] = None
    for old, new in listed.rename.items():
        edits[_standing(old, tree, place)] = None
        edits[safe(new, str(place / LIST))] = tree.blob(old)
    return edits | {path: blob for path, blob in _files(place) if path != LIST}


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
    """The files of a folder by their paths; links are links."""
    for folder, folders, files in os.walk(place):
        for name in sorted([*files, *(f for f in folders if (Path(folder) / f).is_symlink())]):
            file = Path(folder) / name
            mode = file.lstat().st_mode
            path = safe(file.relative_to(place).as_posix(), str(place))
            if stat.S_ISLNK(mode):
                yield path, Blob(os.fsencode(file.readlink()), SYMLINK)
            elif stat.S_ISREG(mode):
                yield path, Blob(file.read_bytes(), EXECUTABLE if mode & stat.S_IXUSR else REGULAR)


def _of_repository(fork: Repo, start: Start) -> Edits:
    """What a fork committed since its import, which must be the one that the replay starts from."""
    where, head = str(fork.work_tree or fork.git_dir), fork.head()
    had = known(fork, head, start.config)
    if fork.work_tree and fork.run("status", "--porcelain", "--untracked-files=no"):
        raise SyncError("the fork of the overlay has edits that are not committed", where, "commit them first")
    if had.cutoff != start.upstream_commit or had.commits:
        raise SyncError(
            f"the fork of the overlay is not edits of the import at {start.upstream_commit[:12]} alone",
            where,
            "--from names the commit that it was imported at, and nothing was ported into it since",
        )
    roots = fork.line("rev-list", "--max-parents=0", head).split("\n")
    before, after = fork.tree(roots[-1]), fork.tree(head)
    changed = {p for p in before.paths() | after.paths() if before.entries.get(p) != after.entries.get(p)}
    return {path: after.blob(path) for path in sorted(changed)}


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
