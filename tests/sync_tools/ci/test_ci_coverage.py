import time

import pytest

from sync_tools.ci.coverage import covered, glob_matches, matched
from sync_tools.ci.workflow import WorkflowJob

TESTS = ["tests/test_a.py", "tests/utils/test_b.py", "tests/utils/deep/test_c.py", "tests/e2e/test_d.py"]


def run(*commands: str, rows: tuple[dict[str, object], ...] = ()) -> list[str]:
    found = covered([WorkflowJob("j", rows, commands)], TESTS, "tests")
    return [path.rpartition("test_")[2][0] for path in TESTS if path in found]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("test_a.py", "a"),
        ("tests/test_a.py", "a"),
        ("tests/test_a.py::test_x[1]", "a"),
        ("utils", "bc"),
        ("./tests/utils/", "bc"),
        ("utils/*.py", "b"),
        ("tests/**/test_*.py", "abcd"),
        ("tests", "abcd"),
        ("util", ""),
        ("../tests", ""),
        ("/tests", ""),
    ],
)
def test_a_row_names_a_file_a_folder_or_a_glob(name: str, files: str) -> None:
    assert "".join(run(rows=({"test_file": name},))) == files


@pytest.mark.parametrize("value", [None, 3, ["tests/test_a.py"], "", "'"])
def test_a_row_that_names_nothing_runs_nothing(value: object) -> None:
    assert run(rows=({"test_file": value},)) == []


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("pytest tests/utils", "bc"),
        ("python -m pytest -q -n 4 tests/utils/deep tests/test_a.py", "ac"),
        ("pip install x && python3.11 -m pytest tests/test_a.py | tee log", "a"),
        ("cd tests\npytest \\\n  utils/deep # tests/e2e", "c"),
        ("pytest --ignore=tests/e2e --ignore tests/utils tests", "a"),
        ("pytest tests --deselect tests/test_a.py::test_x", "abcd"),
        ("OMP_NUM_THREADS=1 timeout 600 pytest", "abcd"),
        ("uv run pytest tests/e2e", "d"),
        ("python tests/e2e/test_d.py --flag", "d"),
        ("pytest tests/'", ""),
        ("pip install pytest numpy", ""),
        ("echo pytest tests", ""),
        ("git diff -- 'tests/test_*.py'", ""),
        ("pytest other/folder", ""),
        ("make test", ""),
    ],
)
def test_a_command_runs_what_it_names(command: str, files: str) -> None:
    assert "".join(run(command)) == files


def test_globs_cross_folders_only_with_two_stars() -> None:
    assert glob_matches("tests/**/test_*.py", "tests/test_a.py")
    assert glob_matches("a/**/b/**", "a/x/y/b/c/d")
    assert not glob_matches("tests/*.py", "tests/utils/test_b.py")
    assert matched("tests/[ab]*", ["tests/a", "tests/c", "tests/b/d"], "tests") == {"tests/a"}


def test_a_hostile_glob_costs_nothing() -> None:
    start = time.monotonic()
    assert not glob_matches("/".join(["**"] * 500 + ["x"]), "/".join("a" * 500))
    assert not glob_matches("*a" * 200 + "b", "a" * 2000)
    assert time.monotonic() - start < 2
