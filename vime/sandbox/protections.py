"""What each mode of the sandbox keeps out."""

from vime.sandbox.inside import seccomp
from vime.sandbox.records import Mode, Protection

_TABLE = (
    # name, with namespaces, with rlimits: "" is never, "seccomp" is where this machine's calls are known
    ("host's files", "always", "", "a root folder of libraries and the interpreter alone, read-only; /tmp is empty for each call"),
    ("host's processes", "always", "seccomp", "a pid namespace for each call, and no signal, ptrace or /proc out of it"),
    ("host's user", "always", "", "a user namespace with one user, no capabilities; where root starts it, nobody outside"),
    ("network", "always", "seccomp", "a network namespace without devices, and no socket but pairs"),
    ("environment", "always", "always", "a fixed set of variables"),
    ("kernel", "always", "seccomp", "no mounts, namespaces, tracing, keys, io_uring, bpf, shared memory out of sight"),
    ("CPU and wall time", "always", "always", "seconds for each process, and a deadline for all"),
    ("memory of a process", "always", "always", "address space"),
    ("memory together", "always", "seconds", "all processes of a call, looked at every 20 ms"),
    ("number of processes", "always", "seccomp", "threads count too; without a pid namespace there are no children at all"),
    ("files written", "always", "", "size of the temporary folder, and its end with the call"),
    ("size of a file", "always", "always", "and no core dumps"),
    ("output", "always", "always", "what is over the limit ends the call"),
    ("background processes", "always", "seccomp", "all end with the call, and with the owner, also when it is killed"),
)  # fmt: skip


def protections(mode: Mode) -> tuple[Protection, ...]:
    column = {"namespaces": 1, "rlimits": 2}[mode]
    works = {"always": True, "": False, "seccomp": seccomp.known_machine()}
    return tuple(Protection(row[0], works.get(row[column], False), row[3]) for row in _TABLE)
