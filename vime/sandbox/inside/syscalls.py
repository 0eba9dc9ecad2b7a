"""The system calls that Python has no function for, as functions that raise OSError."""

import ctypes
import os
import signal

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWTIME = 0x10000000, 0x20000000, 0x40000000, 0x00000080
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 4, 8, 32, 4096, 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 4, 22, 24, 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4

# numbers from 424 on are the same on every architecture
_FSOPEN, _FSCONFIG, _FSMOUNT, _MOUNT_SETATTR = 430, 431, 432, 442
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CLONE = {"x86_64": 56, "aarch64": 220}
_AT_FDCWD, _AT_RECURSIVE, _FSCONFIG_CMD_CREATE, _CLOEXEC = -100, 0x8000, 6, 1

_libc = ctypes.CDLL(None, use_errno=True)
_with_interpreter = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = _with_interpreter.syscall.restype = ctypes.c_long
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns_fd")]


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def fork_in_pid_namespace() -> int:
    """As os.fork(); the child is the first process of a pid namespace of its own."""
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    child = _with_interpreter.syscall(_CLONE[os.uname().machine], CLONE_NEWPID | signal.SIGCHLD, None, None, None, None)
    (python.PyOS_AfterFork_Parent if child else python.PyOS_AfterFork_Child)()
    return _checked(child, "clone")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = (os.fsencode(word) if word else None for word in (source, target, kind))
    _checked(_libc.mount(*words, flags, options.encode() or None), f"mount {target}")


def umount(target: str) -> None:
    _checked(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    number = _PIVOT_ROOT[os.uname().machine]
    _checked(_libc.syscall(number, os.fsencode(new), os.fsencode(old)), "pivot_root")


def set_mount_attributes(target: str, attributes: int) -> None:
    """Add attributes to a mount and all below it; what it has already stays (Linux 5.12)."""
    wanted = _MountAttributes(set=attributes)
    done = _libc.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(target), _AT_RECURSIVE, ctypes.byref(wanted), ctypes.sizeof(wanted)
    )
    _checked(done, f"mount_setattr {target}")


def open_detached_proc() -> int:
    """A folder of /proc for this process's pid namespace, which is mounted nowhere."""
    context = _checked(_libc.syscall(_FSOPEN, b"proc", _CLOEXEC), "fsopen proc")
    try:
        _checked(_libc.syscall(_FSCONFIG, context, _FSCONFIG_CMD_CREATE, None, None, 0), "fsconfig proc")
        held = _checked(_libc.syscall(_FSMOUNT, context, _CLOEXEC, 0), "fsmount proc")
    finally:
        os.close(context)
    try:
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=held)
    finally:
        os.close(held)


def prctl(option: int, *words: int) -> None:
    _checked(_libc.prctl(option, *(ctypes.c_ulong(word) for word in (*words, 0, 0, 0, 0)[:4])), f"prctl {option}")


def set_seccomp_filter(program: bytes) -> None:
    """Hold this process and all its children to a BPF program, for good; it needs PR_SET_NO_NEW_PRIVS first."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    wanted = Program(len(program) // 8, program)
    _checked(_libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(wanted), 0, 0), "seccomp")


def bound_capabilities() -> None:
    """Keep those that this process has, and let no program that it starts have any."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # past the last that this kernel knows
            break


def drop_capabilities() -> None:
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(header, none), "capset")


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
