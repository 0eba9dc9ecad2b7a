"""What each mode of the sandbox keeps out."""

from vime.sandbox.inside import seccomp
from vime.sandbox.records import Mode, Protection

_TABLE = (
    # name, with namespaces, with rlimits ("" is never, "seccomp" is where this machine's calls are known), what it is, and
    # what with rlimits where that is something else
    ("host's files", "always", "", "a root folder of libraries and the interpreter alone, read-only; /tmp is empty for each call", ""),
    ("host's processes", "always", "seccomp", "a pid namespace for each call, and no signal, ptrace or /proc out of it", "no signal, no ptrace; /proc is among the host's files"),
    ("host's user", "always", "", "a user namespace with one user, no capabilities; where root starts it, nobody outside", ""),
    ("network", "always", "seccomp", "a network namespace without devices, and no socket but pairs", "no socket but pairs"),
    ("environment", "always", "always", "a fixed set of variables", ""),
    ("kernel", "always", "seccomp", "no mounts, namespaces, tracing, keys, io_uring, bpf, shared memory out of sight", ""),
    ("CPU and wall time", "always", "always", "seconds for each process, and a deadline for all", ""),
    ("memory of a process", "always", "always", "address space", ""),
    ("memory together", "always", "seccomp", "all processes of a call, looked at every 20 ms", "there is one process"),
    ("number of processes", "always", "seccomp", "threads count too", "threads; no children at all"),
    ("files written", "always", "", "size of the temporary folder, and its end with the call", ""),
    ("size of a file", "always", "always", "and no core dumps", ""),
    ("output", "always", "always", "what is over the limit ends the call", ""),
    ("background processes", "always", "seccomp", "all end with the call, and with the owner, also when it is killed", "there are no children"),
)  # fmt: skip


def protections(mode: Mode) -> tuple[Protection, ...]:
    weak = mode == "rlimits"
    works = {"always": True, "": False, "seccomp": seccomp.known_machine()}
    return tuple(
        Protection(name, works[rlimits if weak else namespaces], (weak and otherwise) or what)
        for name, namespaces, rlimits, what, otherwise in _TABLE
    )
