"""The weak mode, which has no namespaces: what it still keeps out, and that it isn't taken by default."""

import os
import socket
from contextlib import ExitStack

import pytest
from sandbox_world import SMALL, seconds_of_a_call, started

from vime.sandbox import Sandbox, SandboxRefused
from vime.sandbox.inside import seccomp

needs_filter = pytest.mark.skipif(not seccomp.known_machine(), reason="no table of system calls for this machine")

BY_LIMIT = {
    "infinite loop": ("while 1: pass", {"cpu", "wall"}),
    "sleep": ("import time; time.sleep(60)", {"wall"}),
    "sleep without its parent": (
        "import ctypes, time\nctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\ntime.sleep(60)",
        {"wall"},
    ),
    "endless output": ("while 1: print('x' * 1000)", {"output"}),
    "thread bomb": (
        "import threading, time\ntry:\n    for i in range(5000): threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "except RuntimeError: pass",
        {"wall", "exit"},
    ),
}
IN_VAIN = {
    "memory bomb": ("try: bytearray(1 << 32)\nexcept MemoryError: print('no')", "no\n"),
    "big file": (
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nf = open('big', 'wb', 0)\n"
        "for _ in range(3):\n    try: f.write(bytes(1 << 20))\n    except OSError: print('no')",
        "no\nno\n",
    ),
    "many descriptors": (
        "import os\nn = 0\ntry:\n    while 1: os.dup(1); n += 1\nexcept OSError: print(n < 32)",
        "True\n",
    ),
    "environment": ("import os; print('OWNER_SECRET' in os.environ)", "False\n"),
    "inherited descriptors": (
        "import os\nfor fd in range(3, 500):\n    try: os.fstat(fd); print(fd)\n    except OSError: pass",
        "",
    ),
}
IN_VAIN_BY_FILTER = {
    "fork": ("import os\nfor f in (os.fork, os.forkpty):\n    try: f()\n    except OSError: print('no')", "no\nno\n"),
    "subprocess": ("import subprocess\ntry: subprocess.run(['true'])\nexcept OSError: print('no')", "no\n"),
    "new session": ("import os\ntry: os.setsid()\nexcept OSError: print('no')", "no\n"),
    "signals": (
        "import os, signal\nfor p in (os.getppid(), 1, -1, 0):\n    try: os.kill(p, 9)\n    except OSError: print('no')",
        "no\nno\nno\nno\n",
    ),
    "sockets": (
        "import socket\nfor f in (1, 2, 10, 16):\n    try: socket.socket(f)\n    except OSError: print('no')",
        "no\nno\nno\nno\n",
    ),
    "pairs of sockets that send to others": (
        "import socket\nfor f in range(46):\n    for k in (2, 3):\n"
        "        try: socket.socketpair(f, k); print(f, k)\n        except PermissionError: pass",
        "",
    ),
    "ptrace": ("import ctypes, os\nprint(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))", "-1\n"),
    "limits of the parent": (
        "import os, resource\ntry: resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))\n"
        "except OSError: print('no')",
        "no\n",
    ),
}


@pytest.fixture(scope="module")
def sandbox():
    os.environ["OWNER_SECRET"] = "x"
    with started("rlimits", places=1) as made:
        yield made
    del os.environ["OWNER_SECRET"]


@pytest.fixture
def unharmed(sandbox):
    before = seconds_of_a_call(sandbox)
    yield sandbox
    after = seconds_of_a_call(sandbox)
    assert after < 4 * before + 0.25, f"{before:.3f} s before the attack, {after:.3f} s after it"


@pytest.mark.parametrize("attack", BY_LIMIT)
def test_a_limit_ends_it(attack, unharmed):
    code, reasons = BY_LIMIT[attack]
    result = unharmed.run(code)
    assert result.reason in reasons and result.seconds < SMALL.wall + 2, result


@pytest.mark.parametrize("attack", IN_VAIN)
def test_it_gets_nothing(attack, unharmed):
    code, printed = IN_VAIN[attack]
    result = unharmed.run(code)
    assert (result.stdout, result.exit) == (printed, 0), result


@needs_filter
def test_the_hosts_sockets_are_not_reached_from_a_pair(unharmed, tmp_path):
    """A socket of a pair is connected, and one of datagrams sends to any other address all the same."""
    names = (str(tmp_path / "socket"), f"\0vime-{os.getpid()}")
    with ExitStack() as stack:
        hosts = [stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) for _ in names]
        for one, name in zip(hosts, names, strict=True):
            one.bind(name)
            one.settimeout(0.2)
        unharmed.run(
            f"import socket\nfor name in {names!r}:\n    for kind in range(1, 6):\n        try:\n"
            "            one, other = socket.socketpair(socket.AF_UNIX, kind)\n            one.sendmsg([b'x'], [], 0, name)\n"
            "        except OSError: pass\n"
            "        try: other.connect(name); other.send(b'x')\n        except (OSError, NameError): pass"
        )
        for one in hosts:
            with pytest.raises(TimeoutError):
                one.recv(1)


@needs_filter
@pytest.mark.parametrize("attack", IN_VAIN_BY_FILTER)
def test_the_filter_keeps_it_out(attack, unharmed):
    code, printed = IN_VAIN_BY_FILTER[attack]
    result = unharmed.run(code)
    assert (result.stdout, result.exit) == (printed, 0), result


def test_what_a_call_writes_is_not_there_for_the_next(unharmed):
    assert unharmed.run("import os\nos.makedirs('a/b'); open('a/b/c', 'w').close(); os.chmod('a', 0)").ok
    assert unharmed.run("import os; os.rmdir(os.environ['TMPDIR'])").ok
    assert unharmed.run("import os; print(os.listdir('.'))").stdout == "[]\n"


def test_it_says_that_files_are_open_to_it(sandbox):
    assert not {row.name: row.active for row in sandbox.protections()}["host's files"]
    assert sandbox.run("print(open('/etc/passwd').read()[:4])").stdout == "root\n"  # as it says


def test_it_claims_no_namespace_and_knows_each_protection(sandbox):
    rows = {row.name: row for row in sandbox.protections()}
    assert not any(
        "namespace for" in row.detail or "a network namespace" in row.detail for row in rows.values() if row.active
    )
    assert rows["memory together"].active == rows["number of processes"].active == seccomp.known_machine()


def test_it_is_not_what_one_gets_unasked():
    try:
        with Sandbox(places=1) as sandbox:
            assert sandbox.mode == "namespaces"
    except SandboxRefused as refused:
        assert "rlimits" in str(refused)
