import time
from typing import Any

import pytest

from sync_tools.ci.workflow import WorkflowError, jobs, load, schema_errors

VALID = b"name: t\non: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: pytest\n"


def test_values_are_read_as_github_reads_them() -> None:
    value = load(b"on: push\na: [1, -2, 1.5, true, ~, 'x', yes, 2020-01-01, 0x10]\nb: {c: ''}\n")
    assert value == {"on": "push", "a": [1, -2, 1.5, True, None, "x", "yes", "2020-01-01", "0x10"], "b": {"c": ""}}


def laughs(width: int, depth: int) -> bytes:
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, depth)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    "data",
    [
        laughs(10, 12),
        b"a: &a [*a]",
        b"[" * 20_000,
        b"a: " + b"[" * 200 + b"]" * 200,
        b"a: !!python/object/apply:os.system ['true']",
        b"a: !x y",
        b"a: 1\na: 2",
        b"a: 1\n---\nb: 2",
        b"- a",
        b"",
        b"a: [",
        b"a: \xff",
        b"a: " + b"9" * 5000 + b"\nb: " + b"x" * 600_000,
        b"a: *nothing",
    ],
)
def test_anything_else_is_refused_soon(data: bytes) -> None:
    start = time.monotonic()
    with pytest.raises(WorkflowError) as caught:
        load(data)
    assert time.monotonic() - start < 3
    assert "\n" not in str(caught.value)


def test_aliases_are_expanded() -> None:
    assert load(b"a: &x [1]\nb: *x") == {"a": [1], "b": [1]}


def test_the_schema_finds_what_github_would_refuse() -> None:
    assert schema_errors(VALID) == ()
    (error,) = schema_errors(VALID.replace(b"    runs-on: x\n", b""))
    assert error.startswith("jobs.a")
    assert len(schema_errors("".join(f"k{i}: 1\n" for i in range(9)).encode(), limit=3)) <= 3


def test_jobs_have_rows_and_commands_filled_from_them() -> None:
    matrix: dict[str, Any] = {"info": [{"test_file": "a.py", "args": "-x"}, {"test_file": "b.py"}]}
    script = "python \"tests/${{ matrix.info.test_file }}\" ${{ matrix.info.args || '' }}"
    (job,) = jobs({"jobs": {"j": {"strategy": {"matrix": matrix}, "steps": [{"run": script}, {"uses": "x"}]}}})
    assert [row["test_file"] for row in job.rows] == ["a.py", "b.py"]
    assert [command.split() for command in job.commands] == [
        ["python", '"tests/a.py"', "-x"],
        ["python", '"tests/b.py"'],
    ]


def test_rows_may_stand_in_include_or_be_a_list_of_files() -> None:
    shapes = [{"include": [{"test_file": "a.py"}]}, {"test_file": ["a.py"], "os": ["x"]}]
    for matrix in shapes:
        (job,) = jobs(
            {"jobs": {"j": {"strategy": {"matrix": matrix}, "steps": [{"run": "pytest ${{ matrix.test_file }}"}]}}}
        )
        assert [dict(row) for row in job.rows] == [{"test_file": "a.py"}]
        assert job.commands == ("pytest a.py",)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"jobs": []},
        {"jobs": {"a": 1}},
        {"jobs": {"a": {"strategy": "x", "steps": "y"}}},
        {"jobs": {"a": {"steps": [1]}}},
    ],
)
def test_other_shapes_have_no_rows(value: dict[str, Any]) -> None:
    assert all(not job.rows and not job.commands for job in jobs(value))
