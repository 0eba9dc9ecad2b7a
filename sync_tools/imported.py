"""Files in memory as a new git repository, or as files of a folder that is there."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sync_tools.errors import SyncError
from sync_tools.files import alone
from sync_tools.gitio import GitFailed, Repo
from sync_tools.gitpack import object_id, packed, trees
from sync_tools.modes import EXECUTABLE, GITLINK, SYMLINK
from sync_tools.port.fork import Fork
from sync_tools.tree import Blob

AS_WRITTEN = ("-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null", "-c", "advice.detachedHead=false")


def new_repository(to: Path, files: Mapping[str, Blob], subject: str, trailers: Mapping[str, str]) -> str:
    """Make `to` a repository with one commit that holds the files; the commit. It appears whole, or not at all."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with _scratch(to) as scratch:
            Repo(scratch, scratch).run(
                "init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main"
            )
            repo = Repo(scratch / ".git", scratch)
            commit = _store(repo, files, subject, trailers)
            repo.run(*AS_WRITTEN, "reset", "--hard", "--quiet", commit)
            if to.is_dir():
                to.rmdir()
            scratch.rename(to)
            return commit
    except GitFailed as e:
        raise SyncError(f"cannot write the repository: {e}", str(to), "look at the disk, and at git's version") from e
    except OSError as e:
        raise SyncError(
            f"cannot write the repository: {e.strerror}", str(to), "name a folder that can be written"
        ) from e


@contextmanager
def _scratch(to: Path) -> Iterator[Path]:
    """A new folder beside `to`, gone in the end where it was not renamed. It is locked while this process lives, by which
    another one knows those of processes that were killed, and removes them."""
    scratch = to.with_name(f".{to.name}.{os.getpid()}.part")
    with ExitStack() as held:
        with alone(to.parent):
            _remove_abandoned(to)
            scratch.mkdir()
            held.enter_context(alone(scratch))
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _remove_abandoned(to: Path) -> None:
    for part in to.parent.iterdir():
        if re.fullmatch(rf"\.{re.escape(to.name)}\.\d+\.part", part.name) and part.is_dir() and not part.is_symlink():
            with suppress(OSError), alone(part, wait=False):
                shutil.rmtree(part, ignore_errors=True)


def _store(repo: Repo, files: Mapping[str, Blob], subject: str, trailers: Mapping[str, str]) -> str:
    """Put the commit of the files, and all that it holds, into an empty repository; its id."""
    who = Fork(repo).committer()
    oids = {p: b.data.decode() if b.mode == GITLINK else object_id("blob", b.data) for p, b in files.items()}
    root, folders = trees({path: (blob.mode, oids[path]) for path, blob in files.items()})
    by = f"{who.name} <{who.email}>"
    message = "\n".join((subject, "", *(f"{k}: {v}" for k, v in trailers.items()), f"Signed-off-by: {by}\n"))
    commit = f"tree {root}\nauthor {by} {who.date}\ncommitter {by} {who.date}\n\n{message}".encode(
        "utf-8", "surrogateescape"
    )
    blobs = (("blob", blob.data) for blob in files.values() if blob.mode != GITLINK)
    pack = packed((("commit", commit), *(("tree", folder) for folder in folders), *blobs))
    folder = repo.git_dir / "objects" / "pack"
    _write_synced(folder / f"pack-{pack.name}.pack", pack.data)
    _write_synced(folder / f"pack-{pack.name}.idx", pack.index)
    return object_id("commit", commit)


def _write_synced(path: Path, data: bytes) -> None:
    """Write a file of git's as git does: it is on the disk, and nobody changes it."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o444)


def refuse_to_lose(to: Path, files: Mapping[str, Blob]) -> None:
    """Raises SyncError where a file in `to` would be written over whose content git does not hold: edited since the last
    commit, untracked, or ignored."""
    if not to.is_dir():
        return
    repo = Repo.open(to)
    asked = ("--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=traditional")
    said = os.fsdecode(repo.run("status", *asked, "--", str(to.resolve())))
    top, here = (repo.work_tree or to).resolve(), to.resolve()
    uncommitted = {top / line[3:] for line in said.split("\0") if line}
    lost = [path for path, blob in files.items() if here / path in uncommitted and _differs(here / path, blob)]
    if lost:
        others = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise SyncError(
            "a file would be written over that is not committed as it stands",
            f"{to / lost[0]}{others}",
            "commit it or put it away, or name another folder with --to",
        )


def _differs(target: Path, blob: Blob) -> bool:
    """Whether something stands there that is not the file."""
    if target.is_symlink():
        return blob.mode != SYMLINK or target.readlink() != Path(os.fsdecode(blob.data))
    return target.is_file() and (blob.mode == SYMLINK or target.read_bytes() != blob.data)


def write_files(to: Path, files: Mapping[str, Blob]) -> None:
    """Write the files below `to`, never through a link. Raises SyncError for what is in the way, before anything is written."""
    if to.exists() and not to.is_dir():
        raise SyncError("a file is in the way", str(to), "name a folder with --to")
    for path in files:
        target = to / path
        if target.is_dir() and not target.is_symlink():
            raise SyncError("a folder is in the way", str(target), "name an empty folder with --to")
        for parent in [*target.parents][: len(Path(path).parts) - 1]:
            if parent.is_symlink() or (parent.exists() and not parent.is_dir()):
                raise SyncError("a file or link is in the way", str(parent), "name an empty folder with --to")
    to.mkdir(parents=True, exist_ok=True)
    for path, blob in files.items():
        if blob.mode != GITLINK:
            _write_file(to / path, blob)


def _write_file(target: Path, blob: Blob) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.is_file():
        target.unlink()
    if blob.mode == SYMLINK:
        target.symlink_to(os.fsdecode(blob.data))
        return
    target.write_bytes(blob.data)
    target.chmod(0o755 if blob.mode == EXECUTABLE else 0o644)
