"""The process that runs the code: it gives up what it has, then it is the code."""

import atexit
import linecache
import os
import resource
import sys
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TextIO

from vime.sandbox.inside import seccomp
from vime.sandbox.inside import syscalls as sys_
from vime.sandbox.records import Limits

_FILE = "main.py"


@dataclass(frozen=True)
class Job:
    """One call, as its worker gets it: open descriptors, and what it is held to."""

    code: int
    stdin: int
    stdout: int
    stderr: int
    limits: Limits
    base_memory: int
    """Address space that the interpreter has before the code starts."""
    base_processes: int
    """Processes of the sandbox itself that the kernel counts for this user."""
    namespaces: bool


def confine(job: Job) -> str:
    """Give up every right and descriptor that the code must not have; returns the code."""
    code = os.pread(job.code, os.fstat(job.code).st_size, 0).decode("utf-8", "surrogatepass")
    for fd, place in ((job.stdin, 0), (job.stdout, 1), (job.stderr, 2)):
        os.dup2(fd, place)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    _set_limits(job)
    if job.namespaces:
        sys_.drop_capabilities()
    sys_.prctl(sys_.PR_SET_NO_NEW_PRIVS, 1)
    if seccomp.known_machine():
        sys_.set_seccomp_filter(seccomp.program(None if job.namespaces else os.getpid()))
    return code


def become(code: str) -> NoReturn:
    """Run the code as the main program, and end as it ends."""
    sys.stdin = sys.__stdin__ = _stream(0, "r", "surrogateescape")
    sys.stdout = sys.__stdout__ = _stream(1, "w", "backslashreplace")
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    sys.argv = [_FILE]
    linecache.cache[_FILE] = (len(code), None, code.splitlines(keepends=True), _FILE)
    status = 1
    try:
        status = _ending(lambda: exec(compile(code, _FILE, "exec", dont_inherit=True), main.__dict__))
        status = _ending(_finish) or status
    finally:  # without tearing the interpreter down, which would copy all the pages that it shares with the zygote
        os._exit(status)


def _stream(fd: int, way: str, errors: str) -> TextIO:
    """By lines, so that what was printed before a limit is not lost."""
    return open(fd, way, buffering=1, encoding="utf-8", errors=errors, closefd=False)


def _ending(run: Callable[[], None]) -> int:
    """The exit status that Python gives a program: of sys.exit, or of an exception, which is shown."""
    try:
        run()
        return 0
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return (stop.code or 0) & 0xFF
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException as error:
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename != _FILE:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)  # without the sandbox's own frames
        return 1


def _finish() -> None:
    """What the interpreter does at its end: wait for threads, call what asked to be called, write what is left."""
    if threads := sys.modules.get("threading"):
        threads._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()


def _set_limits(job: Job) -> None:
    limits = job.limits
    table = {
        resource.RLIMIT_AS: limits.memory + job.base_memory,
        resource.RLIMIT_CPU: limits.cpu,
        resource.RLIMIT_FSIZE: limits.file,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 64,
        resource.RLIMIT_STACK: 8 << 20,
    }
    if job.namespaces:  # elsewhere it counts every process that the user has
        table[resource.RLIMIT_NPROC] = limits.processes + job.base_processes
    for kind, value in table.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # a second more, so that the first signal, which says why, comes before the last
        last = value + 1 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else value
        resource.setrlimit(kind, (value, last))
