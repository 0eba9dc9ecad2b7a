"""The system calls that sandboxed code does not get, as a table, and the filter that the kernel makes of it."""

import errno
import functools
import os
import struct
from dataclasses import dataclass

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of the table below, and the kernel's name of the architecture."""
_NEWEST = 462
"""The last call that the table was made with; later ones don't exist for sandboxed code."""

_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80
_ANY = 0xFFFFFFFF
ITSELF = -1
"""In place of a value: the process's own id."""

NEVER: dict[str, tuple[int | None, int | None]] = {
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "move_pages": (279, 239), "migrate_pages": (256, 238),
    # mounts, namespaces, and other ways to another view of the files
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "fanotify_init": (300, 262), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # the network
    "socket": (41, 198),
    # memory that no limit counts
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186),
    "mq_open": (240, 180), "vmsplice": (278, 75),
    # what the system counts for the owner, too
    "inotify_init": (253, None), "inotify_init1": (294, 26),
    # parts of the kernel with a history of holes, and no use here
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_setup": (206, 0),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "modify_ldt": (154, None), "personality": (135, 92), "lookup_dcookie": (212, 18),
    "uselib": (134, None), "ustat": (136, None), "nfsservctl": (180, 42),
    # the machine
    "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "create_module": (174, None), "query_module": (178, None),
    "get_kernel_syms": (177, None), "acct": (163, 89), "swapon": (167, 224), "swapoff": (168, 225), "syslog": (103, 116),
    "settimeofday": (164, 170), "adjtimex": (159, 171), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None), "vhangup": (153, 58),
}  # fmt: skip
"""Name -> number on x86_64 and on aarch64 (None where it has none). All of these fail with EPERM."""

NO_CHILDREN: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None), "vfork": (58, None), "setsid": (112, 157), "setpgid": (109, 154), "kill": (62, 129),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "setpriority": (141, 140),
}  # fmt: skip
"""Refused too where no pid namespace keeps the call's processes apart from others."""


@dataclass(frozen=True)
class Rule:
    """Refuse a call when `argument & mask` is `value`, or with `unless`, when it isn't. Low 32 bits of the argument."""

    call: tuple[int, int]
    argument: int
    mask: int
    value: int
    unless: bool = False


_UNIX, _KIND_OF_SOCKET, _SENDS_ANYWHERE = 1, 0xE, 2
"""Of sockets in pairs: those of other families load modules, and datagrams (also by the name of raw) go to any address."""

RULES = (
    Rule((56, 220), 0, _NAMESPACES, 0, unless=True),  # clone: no new namespaces
    Rule((302, 261), 0, _ANY, 0, unless=True),  # prlimit64: of itself only
    Rule((9, 222), 3, 0x21, 0x21),  # mmap: shared anonymous memory outlives the process that no limit counts it for
    Rule((53, 199), 0, _ANY, _UNIX, unless=True),  # socketpair
    Rule((53, 199), 1, _KIND_OF_SOCKET, _SENDS_ANYWHERE),
    Rule((16, 29), 1, _ANY, 0x5412),  # ioctl TIOCSTI: typing into a terminal
    Rule((16, 29), 1, _ANY, 0x541C),  # ioctl TIOCLINUX
)
THREADS_ONLY = (
    Rule((56, 220), 0, 0x00010000, 0),  # clone without CLONE_THREAD
    Rule((234, 131), 0, _ANY, ITSELF, unless=True),  # tgkill
)

_LOAD, _AND, _EQUAL, _ABOVE, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x06
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16


def known_machine() -> bool:
    return os.uname().machine in _MACHINES


@functools.cache
def program(threads_of: int | None = None) -> bytes:
    """The filter as BPF instructions for this machine. With a process's id it is for that one: threads, but no children."""
    column, architecture = _MACHINES[os.uname().machine]
    table = NEVER if threads_of is None else NEVER | NO_CHILDREN
    rules = RULES if threads_of is None else RULES + THREADS_ONLY
    code = [
        _step(_LOAD, _ARCHITECTURE), _step(_EQUAL, architecture, 1, 0), _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER), _step(_ABOVE, _NEWEST, 0, 1), _step(_RETURN, _ERRNO | errno.ENOSYS),
        # its flags are out of a filter's sight, and libc falls back to clone
        _step(_EQUAL, 435, 0, 1), _step(_RETURN, _ERRNO | errno.ENOSYS),
    ]  # fmt: skip
    for numbers in table.values():
        if (number := numbers[column]) is not None:
            code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _ERRNO | errno.EPERM)]
    for rule in rules:
        value = threads_of if rule.value == ITSELF else rule.value
        code += [
            _step(_EQUAL, rule.call[column], 0, 5),
            _step(_LOAD, _ARGUMENTS + 8 * rule.argument),
            _step(_AND, rule.mask),
            _step(_EQUAL, value, *((1, 0) if rule.unless else (0, 1))),
            _step(_RETURN, _ERRNO | errno.EPERM),
            _step(_LOAD, _NUMBER),
        ]
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
