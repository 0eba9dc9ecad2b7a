"""The run of all checks: what gates, what is inherited, and that nothing stops it."""

import pytest

from sync_tools.config import Config
from sync_tools.modes import SYMLINK
from sync_tools.tree import Blob, MemoryTree
from sync_tools.verify.run import gate
from sync_tools.verify.run import run as verify
from sync_tools.verify.table import CHECKS, Row

TWICE = """\
    def f(a):
        return a

    def f(a):
        return a + 1
    """


def test_a_clean_change_passes_every_check_and_the_gate(make_context):
    checks = verify(make_context({"vime/a.py": "X = 1\n"}))
    assert {c.result for c in checks.values()} == {"passed"}
    assert gate(checks)


def test_a_gating_check_with_an_introduced_finding_fails_the_gate(make_context):
    checks = verify(make_context({"vime/a.py": TWICE}))
    assert checks["duplicates"].result == "failed"
    assert not gate(checks)


def test_advice_never_fails_the_gate(make_context):
    checks = verify(make_context({"run.sh": "train --lr $LR\n"}))
    assert checks["review"].result == "failed"
    assert gate(checks)


def test_what_stood_in_the_fork_before_is_inherited(check):
    result = check("duplicates", {"vime/a.py": TWICE + "X = 1\n"}, {"vime/a.py": "\n\n" + TWICE})
    assert result.result == "passed"
    assert [f.origin for f in result.findings] == ["inherited"]


def test_what_upstream_has_itself_is_inherited(check):
    result = check("duplicates", {"vime/a.py": TWICE}, upstream={"vime/a.py": TWICE})
    assert [f.origin for f in result.findings] == ["inherited"]


def test_one_line_before_answers_for_one_finding(check):
    before = '{"a": 1, "a": 1}\n'
    result = check("duplicates", {"vime/a.py": before + "X = 1\n" + before}, {"vime/a.py": before})
    assert sorted(f.origin for f in result.findings) == ["inherited", "introduced"]


def test_a_finding_moves_with_its_file(check):
    result = check("duplicates", {"vime/new.py": TWICE}, {"vime/old.py": TWICE})
    assert [f.origin for f in result.findings] == ["inherited"]


def test_a_translation_fault_is_not_upstreams(check):
    bad = 'U = "sglang"\n'
    result = check("residue", {"vime/a.py": bad}, upstream={"vime/a.py": bad})
    assert [f.origin for f in result.findings] == ["introduced"]


def test_an_error_in_a_check_is_that_checks_result(make_context, monkeypatch):
    def broken(context):
        raise RuntimeError("boom")

    rows = tuple(Row("parse", broken, "") if r.name == "parse" else r for r in CHECKS)
    monkeypatch.setattr("sync_tools.verify.run.CHECKS", rows)
    checks = verify(make_context({"vime/a.py": TWICE}))
    assert checks["parse"].result == "failed"
    assert "boom" in checks["parse"].reason
    assert len(checks["duplicates"].findings) == 1


def test_a_file_that_does_not_parse_is_one_finding(make_context):
    checks = verify(make_context({"vime/a.py": "import vime.nothing\ndef f(:\n"}))
    found = [(name, f.line) for name, c in checks.items() for f in c.findings]
    assert found == [("parse", 2)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00bin",
        b"\xef\xbb\xbfx = 1\n",
        b"x = 1\r\ny = 2\r\n",
        b"# \xe9\nx = 1",
        b"x = '\x0c'\n",
        b"\n" * 3,
        b"(",
    ],
)
@pytest.mark.parametrize("name", ["a.py", "b.sh", "c.md", "d.toml", "e.yaml", "f.json", "g.patch", "h"])
def test_odd_bytes_stop_nothing(make_context, name, data):
    checks = verify(make_context({f"vime/{name}": data}))
    assert not [c.reason for c in checks.values() if "stopped" in c.reason]


def test_links_and_oversized_files_are_not_read(make_context):
    context = make_context({"vime/a.py": "x = 1\n"}, config=Config.model_validate({"schema": 1, "size_limit": 10}))
    tree = MemoryTree({"vime/l.py": Blob(b"../../etc/passwd", SYMLINK), "vime/big.py": Blob(b"def f(:" + b" " * 50)})
    from dataclasses import replace

    checks = verify(replace(context, tree=tree, touched=frozenset(tree.files)))
    assert not [f for c in checks.values() for f in c.findings]


def test_engine_checks_do_not_run_where_the_engine_is_the_same(check):
    config = Config.model_validate({"schema": 1, "engine": "same", "names": ()})
    code = 'def f(post, u):\n    return post(f"{u}/generate", {"input_ids": [1], "sampling_params": {}})\n'
    for name in ("payloads", "endpoints", "flags"):
        assert check(name, {"vime/a.py": code}, config=config).result == "not run"
