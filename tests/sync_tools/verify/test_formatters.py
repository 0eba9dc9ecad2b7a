"""The formatters: called by name, alone, on many files at once."""

from pathlib import Path

import pytest

from sync_tools.config import Config, Formatter
from sync_tools.errors import SyncError
from sync_tools.formatters import format_bytes, format_files

UGLY = b"import  sys\nimport os\nx = [1,\n2]\n"
BLACK, ISORT = Formatter(name="black"), Formatter(name="isort", args=("--profile", "black"))
ALL = [BLACK, ISORT, Formatter(name="ruff", args=("--select", "I")), Formatter(name="ruff-format")]


def test_formatters_run_in_their_order():
    assert format_bytes("vime/a.py", UGLY, [ISORT, BLACK]) == b"import os\nimport sys\n\nx = [1, 2]\n"


@pytest.mark.parametrize("formatter", ALL, ids=lambda f: f.name)
def test_each_is_idempotent_and_leaves_what_does_not_parse(formatter):
    once = format_bytes("a.py", UGLY, [formatter])
    assert once != UGLY
    assert format_bytes("a.py", once, [formatter]) == once
    assert format_bytes("a.py", b"def f(:\r\n x", [formatter]) == b"def f(:\r\n x"


def test_only_matching_files_are_formatted():
    some = Formatter(name="ruff-format", match="vime/**/*.py")
    done = format_files({"vime/x/a.py": UGLY, "tools/a.py": UGLY, "vime/b.md": UGLY}, [some])
    assert [path for path, data in done.items() if data != UGLY] == ["vime/x/a.py"]


def test_files_of_one_name_are_kept_apart():
    done = format_files(
        {"a/x.py": b"a  = 1\n", "b/x.py": b"b  = 1\n", "-x.py": b"c  = 1\n"}, [Formatter(name="ruff-format")]
    )
    assert done == {"a/x.py": b"a = 1\n", "b/x.py": b"b = 1\n", "-x.py": b"c = 1\n"}


def test_no_configuration_is_found(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nskip-string-normalization = true\n")
    (tmp_path / "ruff.toml").write_text("[format]\nquote-style = 'single'\n")
    monkeypatch.chdir(tmp_path)
    for formatter in (BLACK, Formatter(name="ruff-format")):
        assert format_bytes("a.py", b"x = 'a'\n", [formatter]) == b'x = "a"\n'


def test_line_endings_are_kept():
    assert format_bytes("a.py", b"x  = 1\r\ny = 2\r\n", [BLACK]) == b"x = 1\r\ny = 2\r\n"


def test_a_missing_formatter_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("sync_tools.formatters.shutil.which", lambda *a, **k: None)
    with pytest.raises(SyncError) as e:
        format_bytes("a.py", UGLY, [BLACK])
    assert "pip install black" in e.value.fix


def test_wrong_arguments_are_an_error():
    for name in ("black", "isort", "ruff", "ruff-format"):
        with pytest.raises(SyncError, match="--no-such-option"):
            format_bytes("a.py", UGLY, [Formatter(name=name, args=("--no-such-option",))])


def test_a_formatter_that_does_not_end_is_stopped(tmp_path, monkeypatch):
    slow = tmp_path / "black"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr("sync_tools.formatters.shutil.which", lambda *a, **k: str(slow))
    monkeypatch.setattr("sync_tools.formatters.TIMEOUT", 0.2)
    with pytest.raises(SyncError, match="did not end"):
        format_bytes("a.py", UGLY, [BLACK])


def test_no_secret_reaches_a_formatter(tmp_path, monkeypatch):
    spy = tmp_path / "black"
    spy.write_text(f"#!/bin/sh\nenv > {tmp_path}/env\npwd >> {tmp_path}/env\n")
    spy.chmod(0o755)
    monkeypatch.setenv("GITHUB_TOKEN", "s3cret")
    monkeypatch.setattr("sync_tools.formatters.shutil.which", lambda *a, **k: str(spy))
    assert format_bytes("a.py", UGLY, [BLACK]) == UGLY
    seen = (tmp_path / "env").read_text()
    assert "s3cret" not in seen
    assert str(Path.cwd()) not in seen.splitlines()
    assert str(Path.home()) not in [line.removeprefix("HOME=") for line in seen.splitlines()]


def test_the_check_names_files_that_a_formatter_would_change(found):
    config = Config.model_validate({"schema": 1, "formatters": ({"name": "ruff-format"},)})
    after = {"vime/a.py": "x = 1\ny  = 2\n", "vime/b.py": "x = 1\n"}
    assert found("format", after, config=config) == [("vime/a.py", 2, "format.differs")]
    assert found("format", after) == []
