"""Code that attacks the sandbox: it gets nowhere, it leaves nothing behind, and the next call is as quick as the last."""

import os
import socket
import threading
from pathlib import Path

import pytest
from sandbox_world import SMALL, descendants, seconds_of_a_call, started

SECRET = "the-owner's-secret-98231"

CTYPES = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\ndef call(*a):\n    r = libc.syscall(*a)\n    return ctypes.get_errno() if r < 0 else 'ok'\n"

BY_LIMIT = {
    # name: (code, how it may end)
    "infinite loop": ("while True: pass", {"cpu", "wall"}),
    "loop that ignores the first signal": ("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile 1: pass", {"cpu", "wall"}),
    "sleep": ("import time\ntime.sleep(60)", {"wall"}),
    "loop that catches everything": ("while 1:\n    try:\n        while 1: pass\n    except BaseException: pass", {"cpu", "wall"}),
    "fork bomb": ("import os\nwhile 1:\n    try: os.fork()\n    except OSError: pass", {"cpu", "wall"}),
    "fork bomb of sleepers": ("import os, time\nn = 0\ntry:\n    while n < 500:\n        if os.fork() == 0: time.sleep(60)\n        n += 1\nexcept OSError: pass\nprint(n, flush=True)\ntime.sleep(60)", {"wall"}),
    "thread bomb": ("import threading, time\ndef f(): time.sleep(60)\ntry:\n    for i in range(2000): threading.Thread(target=f).start()\nexcept RuntimeError: print(i < 8)", {"wall"}),
    "endless output": ("while True: print('x' * 1000)", {"output"}),
    "endless output to standard error": ("import os\nwhile True: os.write(2, b'x' * 1000)", {"output"}),
    "memory in many processes": ("import os, time\nfor _ in range(5):\n    if os.fork() == 0: break\nb = bytearray(60 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\ntime.sleep(60)", {"memory"}),
    "closed pipes": ("import os, time\nfor fd in range(3): os.close(fd)\ntime.sleep(60)", {"wall"}),
    "stopping itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n", {"wall"}),
}  # fmt: skip

IN_VAIN = {
    # name: (code, exactly what it prints)
    "memory bomb": ("try:\n    b = bytearray(4 << 30)\nexcept MemoryError: print('no')", "no\n"),
    "memory in small pieces": ("x = []\ntry:\n    while 1: x.append(bytearray(1 << 20))\nexcept MemoryError:\n    n = len(x); del x; print(n < 140)", "True\n"),
    "shared memory": ("import mmap\ntry: mmap.mmap(-1, 1 << 20)\nexcept PermissionError: print('no')", "no\n"),
    "memory files": ("import os\ntry: os.memfd_create('x')\nexcept PermissionError: print('no')", "no\n"),
    "big file": ("import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nf = open('big', 'wb')\ntry:\n    f.write(bytes(3 << 20)); f.flush()\nexcept OSError: print('no')\nimport os, sys; sys.stdout.flush(); os._exit(0)" , "no\n"),
    "more processes than allowed": (
        "import os, time\nn = 1\ntry:\n    while n < 100:\n        if os.fork() == 0:\n            time.sleep(2); os._exit(0)\n"
        "        n += 1\nexcept OSError: print(n)",
        f"{SMALL.processes}\n",
    ),
    "filling the disk": ("n = 0\ntry:\n    while n < 64:\n        open(f'f{n}', 'wb').write(bytes(1 << 20)); n += 1\nexcept OSError: pass\nprint(n <= 4)", "True\n"),
    "filling the folder": ("n = 0\ntry:\n    while n < 20000:\n        open(f'f{n}', 'w').close(); n += 1\nexcept OSError: pass\nprint(n < 5000)", "True\n"),
    "many descriptors": ("import os\nn = 0\ntry:\n    while n < 5000: os.dup(1); n += 1\nexcept OSError: pass\nprint(n < 32)", "True\n"),
    "inherited descriptors": ("import os\nfor fd in range(3, 1 << 12):\n    try: os.write(fd, b'x'); print(fd)\n    except OSError: pass\n    try: os.fstat(fd); print(fd)\n    except OSError: pass", ""),
    "other rights": ("import os\nfor f in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot('/box'), lambda: os.setgroups([0])):\n    try: f(); print('got it')\n    except OSError: pass\nprint(os.getuid() != 0)", "True\n"),
    "changing what is shown": ("import os, sys\nfor p in ('/x', '/usr/lib/x', '/lib/x', os.path.dirname(os.__file__) + '/x.py', '/dev/x'):\n    try: open(p, 'w'); print(p)\n    except OSError: pass", ""),
    "core dump": ("import os, resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))\nif os.fork() == 0: os.abort()\nos.wait(); print(os.listdir('.'))", "(0, 0)\n[]\n"),
    "more of a limit": ("import resource as r\nfor k in (r.RLIMIT_AS, r.RLIMIT_CPU, r.RLIMIT_NPROC, r.RLIMIT_NOFILE):\n    try: r.setrlimit(k, (r.RLIM_INFINITY, r.RLIM_INFINITY)); print(k)\n    except (ValueError, OSError): pass", ""),
    "processes of others": ("import os\nprint(os.path.exists('/proc'), os.path.exists('/sys'))\nfor p in range(1, 70000):\n    if p in (1, os.getpid()): continue\n    try: os.kill(p, 0); print(p)\n    except OSError: pass", "False False\n"),
    "the parent": ("import os, signal, time\nprint(os.getppid())\nfor s in (1, 2, 9, 15, 19, 10): os.kill(1, s)\ntime.sleep(.1)\nprint('alive')", "1\nalive\n"),
    "everybody": ("import os, signal\nsignal.signal(15, signal.SIG_IGN)\ntry: os.kill(-1, 15)\nexcept OSError: pass\nprint('alive')", "alive\n"),
    "slowing the others": ("import os\nfor p in (0, 1):\n    try: os.setpriority(os.PRIO_PROCESS, p, 19)\n    except OSError: pass\nfor f in (lambda: os.setpriority(os.PRIO_USER, 0, 19), lambda: os.sched_setaffinity(1, {0})):\n    try: f()\n    except OSError: pass\nprint('done')", "done\n"),
    "tcp": ("import socket\nfor f in (socket.AF_INET, socket.AF_INET6):\n    try: socket.socket(f, socket.SOCK_STREAM); print('got it')\n    except OSError as e: print(e.errno)", "1\n1\n"),
    "udp, netlink and raw": ("import socket\nfor f, k in ((2, 2), (10, 2), (16, 3), (17, 3), (2, 3), (1, 1), (40, 1)):\n    try: socket.socket(f, k); print('got it')\n    except OSError: pass", ""),
    "pairs of sockets of other families": ("import socket\nfor f in range(46):\n    for k in (1, 2, 3, 5):\n        try: socket.socketpair(f, k); print(f, k)\n        except OSError as e:\n            if e.errno != 1: print(f, k, e)", "1 1\n1 5\n"),
    "inotify, of which each user has few": (CTYPES + "print([call(n, 0) for n in {'x86_64': (253, 294)}.get(os.uname().machine, (26,))] in ([1], [1, 1]))", "True\n"),
    "names": ("import socket\ntry: socket.getaddrinfo('localhost', 80); print('got it')\nexcept OSError: print('no')", "no\n"),
    "execution of a file of its own": ("import subprocess, os\nopen('x', 'w').write('#!/bin/sh\\necho got it'); os.chmod('x', 0o755)\ntry: subprocess.run(['./x'])\nexcept OSError: print('no')", "no\n"),
    "a shell": ("import subprocess, os\nfor c in ('/bin/sh', '/usr/bin/env', '/bin/mount', '/usr/bin/sudo', '/bin/su'):\n    try: subprocess.run([c]); print('got it')\n    except OSError: pass", ""),
    "huge arguments": ("import subprocess, sys\ntry: subprocess.run([sys.executable, '-c', 'pass', *['x' * 100000] * 100])\nexcept OSError: print('no')", "no\n"),
    "a program of its own": ("import subprocess, sys\ns = 'import socket\\ntry: socket.socket()\\nexcept OSError: print(1)\\ntry: print(open(\"/etc/passwd\").read())\\nexcept OSError: print(2)'\nprint(subprocess.run([sys.executable, '-Sc', s], capture_output=True, text=True).stdout)", "1\n2\n\n"),
    "mount and unshare": (CTYPES + "print([libc.unshare(f) for f in (0x10000000, 0x20000, 0x40000000)], libc.mount(b't', b'/box', b'tmpfs', 0, None), libc.umount2(b'/box', 2))", "[-1, -1, -1] -1 -1\n"),
    "clone into a namespace": (CTYPES + "print(call(56 if os.uname().machine == 'x86_64' else 220, 0x10000000 | 17, 0, 0, 0, 0), call(435, 0, 0))", "1 38\n"),
    "ptrace": (CTYPES + "print(libc.ptrace(16, 1, 0, 0), libc.ptrace(0, 0, 0, 0), libc.process_vm_readv(1, 0, 0, 0, 0, 0))", "-1 -1 -1\n"),
    "new system calls": (CTYPES + "print([call(n) for n in (425, 428, 430, 434, 437, 438, 1000)][:3], call(0x40000000 + 41), call(1000))", "[1, 1, 1] 38 38\n"),
    "capabilities": (CTYPES + "h = (ctypes.c_uint32 * 2)(0x20080522, 0); d = (ctypes.c_uint32 * 6)(*[0xffffffff] * 6)\nprint(libc.capset(h, d)); libc.capget(h, d); print(list(d))", "-1\n[0, 0, 0, 0, 0, 0]\n"),
    "its jailer's memory": ("import gc, sys\nprint(any('SECRET' in k for o in gc.get_objects() if isinstance(o, dict) for k in o if isinstance(k, str)))", "False\n"),
}  # fmt: skip


@pytest.fixture(scope="module")
def sandbox():
    os.environ["OWNER_SECRET"] = SECRET
    with started("namespaces", places=1) as made:
        yield made
    del os.environ["OWNER_SECRET"]


@pytest.fixture
def unharmed(sandbox):
    """No process is left of the attack, and the next call isn't slower."""
    before = seconds_of_a_call(sandbox)
    yield sandbox
    keeper, zygote = _own_processes(sandbox)
    assert descendants(zygote) == [] and Path(f"/proc/{keeper}").exists()
    after = seconds_of_a_call(sandbox)
    assert after < 4 * before + 0.25, f"{before:.3f} s before the attack, {after:.3f} s after it"
    assert _own_processes(sandbox) == (keeper, zygote), "the sandbox had to be started again"


def _own_processes(sandbox):
    (keeper,) = [pid for pid in descendants(os.getpid()) if descendants(pid)][:1]
    return keeper, descendants(keeper)[0]


@pytest.mark.parametrize("attack", BY_LIMIT)
def test_a_limit_ends_it(attack, unharmed):
    code, reasons = BY_LIMIT[attack]
    result = unharmed.run(code)
    assert result.reason in reasons, result
    assert result.seconds < SMALL.wall + 2
    assert len(result.stdout) + len(result.stderr) < SMALL.output + 200


@pytest.mark.parametrize("attack", IN_VAIN)
def test_it_gets_nothing(attack, unharmed):
    code, printed = IN_VAIN[attack]
    result = unharmed.run(code)
    assert (result.stdout, result.exit) == (printed, 0), result


def test_the_hosts_files_are_not_there(unharmed, tmp_path):
    key = tmp_path / "id_rsa"
    key.write_text(SECRET)
    code = f"""
import os
paths = [{str(key)!r}, '/etc/passwd', '/etc/shadow', '/etc/hostname', '/root/.ssh', '/root/.bashrc', '/home', '/var', '/proc/1/environ',
    '/proc/self/environ', '/run', '/sys', '/dev/shm/x', '/dev/mem', '/dev/kmsg', '/dev/zero', '/dev/tty', os.path.expanduser('~/.ssh'),
    '/old', {str(Path(__file__))!r}, {str(Path.cwd() / "pyproject.toml")!r}, '/box/../../../etc/passwd', '/usr/bin']
print([path for path in paths if os.path.lexists(path)])
os.symlink({str(key)!r}, 'link'); os.symlink('/etc/passwd', 'link2'); os.symlink('/proc/self/root', 'link3')
for name in os.listdir('.'):
    try: print(open(name).read())
    except OSError: pass
try: os.link('/usr/lib/os-release', 'hard'); print('linked')
except OSError: pass
os.chdir('/')
for _ in range(20): os.chdir('..')
print(sorted(os.listdir('.')) == sorted({{'box', 'dev', 'tmp', 'usr', 'lib', 'lib64', os.__file__.split('/')[1]}} & set(os.listdir('.'))))
"""
    result = unharmed.run(code)
    assert (result.stdout, result.exit) == ("[]\nTrue\n", 0), result
    assert SECRET not in str(result)


def test_the_environment_is_not_there(unharmed):
    result = unharmed.run("import os, sys, subprocess\nprint(dict(os.environ), sys.argv, os.uname().nodename)")
    assert result.ok and SECRET not in result.stdout and "PYTHONPATH" not in result.stdout
    assert socket.gethostname() not in result.stdout.split()[-1] and "sandbox" in result.stdout


def test_the_hosts_servers_are_not_reached(unharmed):
    """Not by TCP, nor by an abstract name, which no folder hides."""
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0vime-sandbox-test")
        abstract.listen()
        tcp.settimeout(0.2)
        abstract.settimeout(0.2)
        result = unharmed.run(
            f"import socket\nfor f, a in ((2, ('127.0.0.1', {tcp.getsockname()[1]})), (1, '\\0vime-sandbox-test')):\n"
            "    try: socket.socket(f).connect(a); print('connected')\n    except OSError: print('no')\n"
            "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))"
        )
        for listening in (tcp, abstract):
            with pytest.raises(TimeoutError):
                listening.accept()
    assert result.stdout == "no\nno\nb'x'\n", result


@pytest.mark.parametrize("way", ["child", "new session", "double fork", "holds the pipes", "thread"])
def test_nothing_outlives_the_call(way, unharmed):
    fork = "import os, time, threading\nif os.fork() == 0:\n    {}\n    time.sleep(60); os._exit(0)\nprint('done', flush=True)"
    silent = "[os.close(fd) for fd in range(3)]"
    code = {
        "child": fork.format(silent),
        "new session": fork.format(f"os.setsid(); {silent}"),
        "double fork": fork.format(f"os.setsid()\n    if os.fork(): os._exit(0)\n    {silent}"),
        "holds the pipes": fork.format("pass"),
        "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint('done')",
    }[way]
    result = unharmed.run(code)
    assert (result.stdout, result.reason, result.exit) == ("done\n", "exit", 0), result
    assert result.seconds < SMALL.wall


def test_no_call_finds_traces_of_another(unharmed):
    assert unharmed.run(
        f"import builtins, os, sys, math\nbuiltins.left = math.left = sys.left = {SECRET!r}\nos.environ['left'] = 'x'\n"
        "open('left', 'w').write('x'); os.umask(0); sys.path.insert(0, '/box'); os.nice(10); sys.setrecursionlimit(50000)"
    ).ok
    result = unharmed.run(
        "import builtins, os, sys, math, random\nprint(any(hasattr(m, 'left') for m in (builtins, math, sys)), 'left' in os.environ,"
        " os.listdir('.'), os.umask(18), '/box' in sys.path, os.nice(0), sys.getrecursionlimit())"
    )
    assert result.stdout == f"False False [] 18 False {os.nice(0)} 1000\n", result


def test_random_numbers_differ_from_call_to_call(unharmed):
    code = "import random, os, uuid\nprint(random.random(), os.urandom(8), uuid.uuid4())"
    assert unharmed.run(code).stdout != unharmed.run(code).stdout


def test_an_attack_does_not_slow_its_neighbour():
    """Two places: while one call is a bomb, the other's calls go on, and end well."""
    with started("namespaces", places=2) as both:
        bomb = threading.Thread(target=both.run, args=(BY_LIMIT["fork bomb of sleepers"][0],))
        bomb.start()
        assert all(both.run("import os\nif os.fork() == 0: os._exit(0)\nos.wait()\nprint(1)").ok for _ in range(5))
        bomb.join()
