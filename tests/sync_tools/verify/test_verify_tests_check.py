"""The touched tests: which they are, and how they run when asked."""

import os
import time

import pytest

from sync_tools.verify import sandbox
from sync_tools.verify.checks import tests as tests_check

LIB = {"vime/__init__.py": "", "vime/lib.py": "def f():\n    return 1\n", "vime/other.py": "X = 1\n"}
TESTS = {
    "tests/test_lib.py": "from vime.lib import f\n\n\ndef test_f():\n    assert f() == 1\n",
    "tests/test_pkg.py": "from vime import lib\n\n\ndef test_f():\n    assert lib.f() == 1\n",
    "tests/test_other.py": "from vime.other import X\n\n\ndef test_x():\n    assert X\n",
}


def listed(check) -> dict[str, str]:
    return {f.path: f.message for f in check.findings}


def test_touched_tests_are_listed_with_their_command_and_not_run(check):
    before = {**LIB, **TESTS}
    after = {**before, "vime/lib.py": "def f():\n    return 2\n", "tests/test_new.py": "NUM_GPUS = 4\n"}
    result = check("tests", after, before)
    assert result.result == "not run"
    assert listed(result) == {
        "tests/test_lib.py": "python -m pytest -q tests/test_lib.py",
        "tests/test_new.py": "python -m pytest -q tests/test_new.py (waits for 4 GPUs)",
        "tests/test_pkg.py": "python -m pytest -q tests/test_pkg.py",
    }


def test_a_port_that_touches_no_test_passes(check):
    assert check("tests", {**LIB, "README.md": "x\n"}, LIB).result == "passed"


def run(check, code: str, **more):
    return check("tests", {**LIB, "tests/test_it.py": code}, LIB, run_tests=True, **more)


def test_a_passing_test_is_named_with_its_isolation(check):
    result = run(check, "from vime.lib import f\n\n\ndef test_f():\n    assert f() == 1\n")
    assert (result.result, result.findings) == ("passed", ())
    assert "tests/test_it.py" in result.reason
    assert "network" in result.reason


def test_a_failing_test_fails_the_check(check):
    result = run(check, "def test_f():\n    assert 0, 'because'\n")
    assert result.result == "failed"
    assert [f.rule for f in result.findings] == ["tests.failed"]


def test_a_test_that_waits_for_gpus_is_not_run(check):
    result = run(check, "NUM_GPUS = 8\n\n\ndef test_f():\n    assert 0\n")
    assert result.result == "not run"


def test_a_file_without_tests_is_not_a_pass(check):
    result = run(check, "X = 1\n")
    assert (result.result, [f.rule for f in result.findings]) == ("not run", ["tests.empty"])


def test_secrets_and_the_users_home_are_out_of_reach(check, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "s3cret")
    code = f"import os\n\n\ndef test_f():\n    assert 'GITHUB_TOKEN' not in os.environ\n    assert os.environ['HOME'] != {os.environ.get('HOME')!r}\n"
    assert run(check, code).result == "passed"


NETWORK = """\
import socket, threading

def test_loopback():
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].sendall(b"x")).start()
        with socket.create_connection(server.getsockname(), timeout=5) as client:
            assert client.recv(1) == b"x"

def test_no_other_host():
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=0.5)
    except TimeoutError:
        assert 0, "the packet left"
    except OSError:
        pass
"""


@pytest.mark.parametrize("isolation", ["namespace", "python"])
def test_only_loopback_answers(check, monkeypatch, isolation):
    if isolation == "namespace" and sandbox.available() != "namespace":
        pytest.skip("no network namespaces here")
    monkeypatch.setattr(sandbox, "available", lambda: isolation)
    result = run(check, NETWORK)
    assert result.result == "passed", result.findings


def test_what_a_test_leaves_running_is_killed(check, monkeypatch, tmp_path):
    monkeypatch.setattr(tests_check, "LIMIT", 3.0)
    beat = tmp_path / "beat"
    code = (
        "import subprocess, time\n\n\ndef test_f():\n"
        f"    subprocess.Popen(['sh', '-c', 'while :; do date +%N > {beat}; sleep 0.05; done'])\n    time.sleep(60)\n"
    )
    result = run(check, code)
    assert "did not end" in result.findings[0].message
    seen = beat.read_text()
    time.sleep(0.3)
    assert beat.read_text() == seen
