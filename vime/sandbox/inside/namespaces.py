"""A process's own view of the system: users, processes, files, network, in the order that the kernel asks for.

Root takes leave of being root, in the host's eyes too: it makes the files ready first, which needs its rights, and the
namespaces as nobody. Anybody else makes a user namespace first, which gives the rights to make the files ready.
"""

import os
import socket
from collections.abc import Iterable

from vime.sandbox.inside import root_folder
from vime.sandbox.inside import syscalls as sys_

_NOBODY = 65534
_INSIDE = 1000
_REST = sys_.CLONE_NEWNS | sys_.CLONE_NEWNET | sys_.CLONE_NEWIPC | sys_.CLONE_NEWUTS | sys_.CLONE_NEWCGROUP


def prepare_keeper() -> None:
    """What the keeper does before it forks the zygote, which is then the first process of its pid namespace."""
    if os.geteuid() == 0:
        sys_.unshare(sys_.CLONE_NEWPID)
    else:
        uid, gid, own = os.geteuid(), os.getegid(), _own_folder()
        sys_.unshare(sys_.CLONE_NEWUSER | sys_.CLONE_NEWPID)
        _map_ids(own, uid, gid)


def prepare_zygote(folders: Iterable[str]) -> int:
    """Leave the host's files and network. Returns an open folder of /proc for the new pid namespace."""
    if os.geteuid() == 0:
        sys_.unshare(sys_.CLONE_NEWNS)
        proc, own = sys_.open_detached_proc(), _own_folder()
        root_folder.enter(folders)
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        sys_.prctl(sys_.PR_SET_DUMPABLE, 1)  # else its own uid_map is root's
        sys_.unshare(sys_.CLONE_NEWUSER | _REST)
        _map_ids(own, _NOBODY, _NOBODY)
    else:
        sys_.unshare(_REST)
        proc = sys_.open_detached_proc()
        root_folder.enter(folders)
    socket.sethostname("sandbox")
    sys_.prctl(sys_.PR_SET_DUMPABLE, 0)
    sys_.bound_capabilities()
    return proc


def _own_folder() -> int:
    return os.open("/proc/self", os.O_PATH | os.O_DIRECTORY)


def _map_ids(own: int, uid: int, gid: int) -> None:
    """One user and one group inside, who are `uid` and `gid` outside. `own` is closed."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{_INSIDE} {uid} 1"), ("gid_map", f"{_INSIDE} {gid} 1")):
        fd = os.open(name, os.O_WRONLY, dir_fd=own)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
    os.close(own)
