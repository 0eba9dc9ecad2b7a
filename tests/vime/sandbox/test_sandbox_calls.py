"""What a call gives back, in both modes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandbox_world import SMALL, started

from vime.cli import main
from vime.sandbox import Limits, Sandbox, SandboxRefused
from vime.sandbox.inside import seccomp
from vime.sandbox.output import Output


@pytest.fixture(scope="module", params=["namespaces", "rlimits"])
def sandbox(request):
    with started(request.param, places=1) as made:
        yield made


@pytest.mark.parametrize(
    ("code", "stdout", "exit_code"),
    [
        ("print(1 + 1)", "2\n", 0),
        ("1 + 1", "", 0),
        ("print('no newline', end='')", "no newline", 0),
        ("import sys; sys.exit(3)", "", 3),
        ("import sys; sys.exit()", "", 0),
        ("import os; os._exit(7)", "", 7),
        ("print('before'); 1 / 0", "before\n", 1),
        ("raise KeyboardInterrupt", "", 1),
        ("", "", 0),
        ("import atexit; atexit.register(print, 'at the end')", "at the end\n", 0),
        ("import threading; threading.Timer(.05, print, ['later']).start()", "later\n", 0),
        ("if __name__ == '__main__': print(__name__)", "__main__\n", 0),
        ("import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)", "True\n", 0),
        ("import asyncio\nasync def f(): return 5\nprint(asyncio.run(f()))", "5\n", 0),
        ("open('x', 'w').write('y'); print(open('x').read())", "y\n", 0),
        ("import tempfile; print(tempfile.TemporaryFile().write(b'123'))", "3\n", 0),
        ("from decimal import Decimal; from fractions import Fraction; print(Fraction(1, 3) + 1)", "4/3\n", 0),
    ],
)
def test_a_program_runs_as_python_runs_it(code, stdout, exit_code, sandbox):
    result = sandbox.run(code)
    assert (result.stdout, result.exit, result.reason) == (stdout, exit_code, "exit"), result
    assert result.ok == (exit_code == 0)


def test_errors_name_the_programs_lines_alone(sandbox):
    result = sandbox.run("def f(x):\n    return 1 / x\nf(0)")
    assert result.stderr.startswith(
        'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n    f(0)\n'
    )
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n") and "sandbox" not in result.stderr
    assert 'File "main.py", line 1' in sandbox.run("if").stderr
    assert "give up" in sandbox.run("import sys; sys.exit('give up')").stderr


@pytest.mark.parametrize("code", ["\0", "print('\udce4')", "print(1)\0", "x = '\ud800'", "\ufeffprint(1)", "é = 1"])
def test_odd_text_is_no_harm(code, sandbox):
    assert sandbox.run(code).reason == "exit"
    assert sandbox.run("print(1)").ok


def test_a_signal_is_named(sandbox):
    result = sandbox.run("import ctypes; ctypes.string_at(0)")
    assert (result.exit, result.reason) == (-signal.SIGSEGV, "signal")


def test_standard_input(sandbox):
    assert sandbox.run("print(input(), input())", "one\ntwo\n").stdout == "one two\n"
    assert "EOFError" in sandbox.run("input()").stderr
    big = "x" * (20 << 20)
    assert sandbox.run("import sys; print(len(sys.stdin.read()))", big).stdout == f"{len(big)}\n"
    assert sandbox.run("print(1)", big).ok  # unread
    assert sandbox.run("import sys; print(ascii(sys.stdin.read()))", "\udce4é").ok


def test_huge_code(sandbox):
    assert sandbox.run(f"x = {'y' * 10!r}\n" + "#" * (5 << 20) + "\nprint(x)").stdout == "yyyyyyyyyy\n"


def test_output_that_is_not_text_survives(sandbox):
    result = sandbox.run("import os; os.write(1, b'a\\xff\\xfeb'); print('\\ud800')")
    assert result.stdout == "a\ufffd\ufffdb\\ud800\n"


def test_output_is_cut_with_a_note(sandbox):
    result = sandbox.run(
        "import sys; print('e', file=sys.stderr)\nwhile 1: print('0123456789')", limits=Limits(output=1000)
    )
    assert result.reason == "output" and not result.ok and result.stderr == "e\n"
    assert result.stdout.endswith("\n[output cut at 1000 bytes]") and 990 < len(result.stdout) < 1030
    fits = sandbox.run("print('x' * 999)", limits=Limits(output=1000))
    assert fits.ok and fits.stdout == "x" * 999 + "\n"


def test_what_was_printed_before_a_limit_is_kept(sandbox):
    result = sandbox.run("print('so far')\nimport time; time.sleep(60)", limits=Limits(wall=0.5))
    assert (result.stdout, result.reason) == ("so far\n", "wall") and 0.5 <= result.seconds < 5


def test_cpu_time_ends_it(sandbox):
    result = sandbox.run("while 1: pass", limits=Limits(cpu=1, wall=60))
    assert result.reason == "cpu" and 0.8 < result.cpu_seconds < 2.5


def test_memory(sandbox):
    code = "try:\n    x = bytearray({} << 20); print('got it')\nexcept MemoryError: print('no')"
    assert sandbox.run(code.format(100), limits=SMALL).stdout == "got it\n"
    assert sandbox.run(code.format(200), limits=SMALL).stdout == "no\n"


def test_no_descriptor_and_no_process_is_left_of_a_thousand_calls(sandbox):
    def count():
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    assert sandbox.run("print(1)").ok
    before = count()
    for turn in range(1000):
        result = sandbox.run("import os; print(sorted(os.listdir('.')), os.dup(0))")
        assert result.stdout == "[] 3\n", (turn, result)
    assert count() == before


def test_a_lost_zygote_is_replaced(sandbox):
    def kill():
        time.sleep(0.5)
        for pid in Path(f"/proc/self/task/{threading.main_thread().native_id}/children").read_text().split():
            os.kill(int(pid), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    result = sandbox.run("import time; time.sleep(60)", limits=Limits(wall=60))
    killer.join()
    assert (result.reason, result.exit, result.ok) == ("lost", None, False)
    assert sandbox.run("print(1)").ok


def test_an_interrupted_call_is_not_taken_for_the_next(sandbox):
    class Interrupted(Exception):
        pass

    def interrupt(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.4)
    try:
        with pytest.raises(Interrupted):
            sandbox.run("import time; time.sleep(1); print('late')")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert sandbox.run("print('next')").stdout == "next\n"


@pytest.mark.parametrize("before", ["pass", "import ctypes; ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)"])
@pytest.mark.parametrize("mode", ["namespaces", "rlimits"])
def test_everything_ends_with_an_owner_that_is_killed(mode, before):
    """Also code that has given up to be told of its parent's end."""
    with started(mode):
        pass
    program = f"{before}\nimport time; time.sleep(300)"
    code = (
        "import sys, threading, time\nfrom vime.sandbox import Limits, Sandbox\n"
        f"s = Sandbox({mode!r}, places=1)\n"
        f"t = threading.Thread(target=s.run, args=({program!r}, '', Limits(wall=300)), daemon=True)\n"
        "t.start(); time.sleep(1); print('up', flush=True); time.sleep(300)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout.readline() == "up\n"
        ours = _below(owner.pid)
        assert len(ours) >= 4  # the keeper, the zygote, the call's first process, the worker
        owner.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(_runs(pid) for pid in ours):
        time.sleep(0.05)
    left = [pid for pid in ours if _runs(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def _below(pid):
    found = [int(word) for task in Path(f"/proc/{pid}/task").glob("*/children") for word in task.read_text().split()]
    return found + [other for child in found for other in _below(child)]


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not seccomp.known_machine(), reason="no table of system calls for this machine")
def test_where_namespaces_are_not_allowed_it_refuses_and_says_how_to_go_on():
    code = (
        "from vime.sandbox.inside import seccomp, syscalls\nfrom vime.sandbox import Sandbox, SandboxRefused\n"
        "syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)\nsyscalls.set_seccomp_filter(seccomp.program())\n"
        "try: Sandbox()\nexcept SandboxRefused as refused: print(refused)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "the sandbox can't start with namespaces: PermissionError" in done.stdout, done
    assert "unshare: Operation not permitted" in done.stdout and "rlimits" in done.stdout


def test_a_module_that_is_not_there_is_refused_at_once():
    with pytest.raises(SandboxRefused, match="No module named 'nonsense'"):
        Sandbox("rlimits", preload=["nonsense"])
    with pytest.raises(ValueError, match="no mode"):
        Sandbox("bubble")
    with pytest.raises(ValueError, match="wall"):
        Limits(wall=0)


@pytest.mark.parametrize("mode", ["namespaces", "rlimits"])
def test_packages_are_shown_and_can_be_warm(mode, tmp_path):
    tmp_path.chmod(0o755)  # else it is not for the user that the code runs as
    (tmp_path / "tool.py").write_text("import os\nborn = os.getpid()\ndef f(): return 5\n")
    (tmp_path / "cold.py").write_text("x = 6\n")
    with started(mode, places=1, packages=[tmp_path], preload=["tool"]) as made:
        result = made.run("import os, tool, cold; print(tool.f(), cold.x, tool.born != os.getpid())")
        assert result.stdout == "5 6 True\n", result


def test_it_says_what_it_protects_from(sandbox):
    active = {protection.name: protection.active for protection in sandbox.protections()}
    assert active["output"] and active["environment"]
    assert active["host's files"] == (sandbox.mode == "namespaces")


def test_the_command_prints_the_protections(capsys):
    assert main(["sandbox", "check", "--sandbox", "rlimits"]) == 0
    shown = capsys.readouterr().out
    assert "host's files" in shown and "NO" in shown
    assert main(["sandbox", "check", "--sandbox", "rlimits", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mode"] == "rlimits"
    for words in (["sandbox"], ["sandbox", "check", "--sandbox", "x"], ["sandbox", "nonsense"]):
        assert main(words) == 2
    told = capsys.readouterr().err
    assert "error: say what to do" in told and "error: sandbox" not in told and "error: : " not in told
    assert main(["sandbox", "--help"]) == 0


def test_a_closed_sandbox_says_so():
    made = Sandbox("rlimits", places=1)
    made.close()
    made.close()
    with pytest.raises(RuntimeError, match="closed"):
        made.run("print(1)")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 50), st.lists(st.tuples(st.integers(0, 1), st.binary(max_size=30)), max_size=10))
def test_output_keeps_the_first_bytes_and_says_it_once(room, chunks):
    output = Output(room)
    told = [output.add(stream, data) for stream, data in chunks]
    whole = [b"".join(data for stream, data in chunks if stream == which) for which in (0, 1)]
    assert sum(told) == sum(len(data) > room for data in whole)
    for which, data in enumerate(whole):
        note = f"\n[output cut at {room} bytes]" if len(data) > room else ""
        assert output.text(which) == data[:room].decode("utf-8", "replace") + note
