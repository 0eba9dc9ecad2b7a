"""The way from the owner's process to sandboxed code: keeper -> zygote -> the call's first process -> worker.

The keeper ends the zygote when the owner is gone, however it went; with the zygote, the first process of its pid namespace,
the kernel ends all the others.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vime.sandbox.inside import namespaces, root_folder, seccomp, worker
from vime.sandbox.inside import syscalls as sys_
from vime.sandbox.inside.zygote import Zygote, own_address_space

WARM = ("math", "random", "re", "json", "itertools", "functools", "collections", "fractions", "decimal", "statistics",
        "string", "heapq", "bisect", "datetime", "typing", "io", "time", "operator", "copy")  # fmt: skip
"""Modules that are there already when a call starts, beside those that the owner names."""


@dataclass(frozen=True)
class Order:
    """What the owner wants of a new zygote."""

    owner: int
    control: int
    mode: str
    packages: tuple[str, ...]
    preload: tuple[str, ...]
    folder: str
    """Where a call works when there are no namespaces."""


def main(order: Order) -> None:
    """Runs in the keeper and in the zygote, and returns nowhere; in a worker it is the call's code."""
    control = socket.socket(fileno=order.control)
    try:
        zygote = _start(order, control)
    except (OSError, ImportError, ValueError) as error:
        control.send(json.dumps({"refused": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    control.send(b'{"refused": ""}')
    job = zygote.serve()
    worker.become(worker.confine(job))


def _start(order: Order, control: socket.socket) -> Zygote:
    owner = os.pidfd_open(order.owner)
    if os.getppid() != order.owner:
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")
    _warm(order)
    keeper_is_root = os.geteuid() == 0
    isolated = order.mode == "namespaces"
    if isolated and not seccomp.known_machine():
        raise OSError(f"no table of system calls for {os.uname().machine}")
    if isolated:
        namespaces.prepare_keeper()
    keeper = os.pidfd_open(os.getpid())
    if child := os.fork():
        control.close()
        _keep(owner, child)
    os.close(owner)
    memory = own_address_space()
    proc = namespaces.prepare_zygote(root_folder.seen_folders(order.packages)) if isolated else -1
    for folder in order.packages:
        os.listdir(folder)  # noqa: PTH208 (an error names a folder that its new user may not read)
    sys_.prctl(sys_.PR_SET_PDEATHSIG, signal.SIGKILL)  # last, since it is lost with a change of user
    if _is_gone(keeper):
        os._exit(0)
    os.close(keeper)
    if isolated:
        seccomp.program()  # once for all calls
    gc.collect()
    gc.freeze()
    # the keeper, the zygote and a call's first process; root's keeper is another user's
    extra = 2 if keeper_is_root else 3
    if isolated:
        return Zygote(control, sys_.fork_in_pid_namespace, root_folder.fresh_temporary_folder, proc, memory, extra)
    return Zygote(control, os.fork, lambda size: root_folder.fresh_plain_folder(order.folder), proc, memory, extra)


def _warm(order: Order) -> None:
    sys.path[:0] = order.packages
    for name in (*WARM, *order.preload):
        importlib.import_module(name)


def _keep(owner: int, zygote: int) -> None:
    """Wait until the owner or the zygote is gone, and see to it that both are, with all that they started."""
    os.closerange(0, min(owner, 3))
    sys_.prctl(sys_.PR_SET_CHILD_SUBREAPER, 1)
    ended = os.pidfd_open(zygote)
    poll = select.poll()
    for fd in (owner, ended):
        poll.register(fd, select.POLLIN)
    poll.poll()
    with suppress(ProcessLookupError):
        os.kill(zygote, signal.SIGKILL)
    with suppress(OSError):  # there is none left
        while True:
            os.waitpid(-1, 0)
            _end_children()
    os._exit(0)


def _end_children() -> None:
    """Whoever lost its parent is this process's child. Without namespaces code may have seen to it that it outlives its own."""
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)


def _is_gone(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def boot(text: str) -> None:
    """`text` is the order, as JSON."""
    order = json.loads(text)
    main(Order(**order | {"packages": tuple(order["packages"]), "preload": tuple(order["preload"])}))
