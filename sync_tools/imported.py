"""Files in memory as a new git repository, or as files of a folder that is there."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, Repo
from sync_tools.modes import EXECUTABLE, GITLINK, SYMLINK
from sync_tools.port.fork import Fork
from sync_tools.tree import Blob

AS_WRITTEN = ("-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null", "-c", "advice.detachedHead=false")

# Deltas and strong compression take longer than all the rest, and save a twentieth; `git gc` makes up for it.
QUICKLY = ("-c", "core.compression=1", "-c", "pack.compression=1")


def new_repository(to: Path, files: Mapping[str, Blob], subject: str, trailers: Mapping[str, str]) -> str:
    """Make `to` a repository with one commit that holds the files; the commit. It appears whole, or not at all."""
    to.parent.mkdir(parents=True, exist_ok=True)
    scratch = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        scratch.mkdir()
        Repo(scratch, scratch).run("init", "--quiet", "--template=", "--initial-branch=main")
        repo = Repo.open(scratch)
        who = Fork(repo).committer()
        lines = [*(f"{k}: {v}" for k, v in trailers.items()), f"Signed-off-by: {who.name} <{who.email}>"]
        message = f"{subject}\n\n" + "\n".join(lines) + "\n"
        repo.run(
            *QUICKLY,
            "fast-import",
            "--depth=0",
            "--quiet",
            "--date-format=raw",
            data=b"".join(_stream(files, message, f"{who.name} <{who.email}> {who.date}")),
        )
        repo.run(*AS_WRITTEN, "reset", "--hard", "--quiet", "main")
        commit = repo.line("rev-parse", "main")
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
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _stream(files: Mapping[str, Blob], message: str, who: str) -> Iterator[bytes]:
    """The commit as git fast-import reads it."""
    text = message.encode()
    yield f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(text)}\n".encode() + text + b"\n"
    for path, blob in sorted(files.items()):
        name = _quoted(path)
        if blob.mode == GITLINK:
            yield b"M 160000 " + blob.data + b" " + name + b"\n"
            continue
        yield f"M {blob.mode:o} inline ".encode() + name + b"\n" + b"data %d\n" % len(blob.data)
        yield blob.data
        yield b"\n"


def _quoted(path: str) -> bytes:
    raw = os.fsencode(path)
    return b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


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
