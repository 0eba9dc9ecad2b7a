"""The files that sandboxed code sees: the interpreter, the libraries of the system, an empty temporary folder."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from vime.sandbox.inside import syscalls as sys_

DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
"""Not /dev/zero: a shared mapping of it is memory that no limit counts."""
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
_STAGE = "/tmp"
WORK = "/box"
"""The temporary folder. /tmp is another name of it, unless something that is shown lies in the host's /tmp."""


def seen_folders(packages: Iterable[str]) -> tuple[str, ...]:
    """What is shown, read-only: libraries, the interpreter with its modules, and folders of packages."""
    prefix = Path(sys.base_prefix)
    wanted = [
        *_LIBRARIES,
        str(prefix / sys.platlibdir),
        str(prefix / "lib"),
        os.path.realpath(sys.executable),
        *packages,
    ]
    shown: list[str] = []
    for path in dict.fromkeys(wanted):
        if os.path.lexists(path) and not any(Path(path).is_relative_to(other) for other in shown):
            shown.append(path)
    return tuple(shown)


def enter(folders: Iterable[str]) -> None:
    """Make a root of `folders` alone, read-only, and take leave of the old one. Needs a mount namespace of its own.

    The temporary folder stays for `fresh_temporary_folder`.
    """
    sources = {path: Path(path).readlink() if Path(path).is_symlink() else None for path in folders}
    real = {path: os.path.realpath(path) for path in (*folders, *DEVICES)}
    sys_.mount("", "/", flags=sys_.MS_REC | sys_.MS_PRIVATE)
    sys_.mount("tmpfs", _STAGE, "tmpfs", sys_.MS_NOSUID, "size=1m,mode=755")
    Path(_STAGE, "old").mkdir()
    sys_.pivot_root(_STAGE, f"{_STAGE}/old")
    os.chdir("/")
    for path, link in sources.items():
        if link is not None and path in _LIBRARIES:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).symlink_to(link)
        else:
            _show(f"/old{real[path]}", path, sys_.MOUNT_ATTR_RDONLY | sys_.MOUNT_ATTR_NOSUID | sys_.MOUNT_ATTR_NODEV)
    for path in DEVICES:
        _show(f"/old{real[path]}", path, sys_.MOUNT_ATTR_NOSUID)
    Path(WORK).mkdir()
    for name in ("/tmp", "/dev/shm"):
        if not Path(name).exists():
            Path(name).symlink_to(WORK)
    sys_.umount("/old")
    Path("/old").rmdir()
    sys_.mount("", "/", flags=sys_.MS_REMOUNT | sys_.MS_BIND | sys_.MS_RDONLY | sys_.MS_NOSUID)


def fresh_temporary_folder(size: int) -> None:
    """An empty WORK of `size` bytes, in place of the last one, which goes with all that was in it."""
    with suppress(OSError):  # there is none the first time
        sys_.umount(WORK)
    flags = sys_.MS_NOSUID | sys_.MS_NODEV | sys_.MS_NOEXEC
    sys_.mount("tmpfs", WORK, "tmpfs", flags, f"size={size},nr_inodes=4096,mode=1777")
    os.chdir(WORK)


def fresh_plain_folder(parent: str) -> None:
    """The same on the host's disk, without a limit of its own and as well as it goes: what can't be removed stays."""
    for last in Path(parent).iterdir():
        shutil.rmtree(last, ignore_errors=True)
    folder = tempfile.mkdtemp(dir=parent)
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    os.chdir(folder)


def _show(source: str, target: str, attributes: int) -> None:
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    if Path(source).is_dir():
        Path(target).mkdir(exist_ok=True)
    else:
        Path(target).touch()
    sys_.mount(source, target, flags=sys_.MS_BIND | sys_.MS_REC)
    sys_.set_mount_attributes(target, attributes)
