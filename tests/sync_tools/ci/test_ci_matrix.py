import time

import pytest
from ci_fixtures import row, template

from sync_tools.ci.matrix import parse
from sync_tools.errors import SyncError


def test_jobs_have_options_and_rows_in_their_order() -> None:
    text = template({"one": [row("a", 8, use_x="1"), "{'num_gpus': 2, 'test_file': 'b.py'}"]}).replace(
        "'tests'", "'cpu': True, 'tests'"
    )
    (job,) = parse(text, "").matrix.jobs
    assert job.options == (("label", "'run-ci-one'"), ("cpu", "True"))
    assert [r.test_file for r in job.rows] == ["test_a.py", "b.py"]
    assert job.rows[0].options == (("test_file", "'test_a.py'"), ("num_gpus", "8"), ("use_x", "'1'"))


def test_lists_may_be_shared_added_and_named_by_lists() -> None:
    text = (
        f"<% set small = [{row('a')}] %>\n<% set big = small + [{row('b')}] %>\n"
        f"<% set jobs = {{'one': {{'tests': big}}, 'two': {{'tests': [{row('c')}] + small}}, 'three': {{'tests': f(x)}}}} %>\n"
    )
    matrix = parse(text, "").matrix
    assert [[r.test_file for r in job.rows] for job in matrix.jobs] == [
        ["test_a.py", "test_b.py"],
        ["test_c.py", "test_a.py"],
        [],
    ]
    assert [job.form for job in matrix.jobs] == [("list big",), ("inline", "list small"), ("computed",)]
    assert [(shared.name, len(shared.rows)) for shared in matrix.lists] == [("small", 1), ("big", 2)]


def test_other_blocks_and_other_dicts_are_no_matrix() -> None:
    template = parse("<% set image = 'x' %><% set names = ['a'] %><% set options = {'a': {'b': 1}} %>", "")
    assert template.matrix.jobs == () and template.matrix.lists == () and template.jobs_block is None


def test_rows_are_equal_whatever_the_order_of_their_options_and_true_is_not_one() -> None:
    text = "<% set jobs = {'one': {'tests': [{'test_file': 'a', 'x': 1}, {'x': 1, 'test_file': 'a'}, {'test_file': 'a', 'x': True}]}} %>"
    one, same, other = parse(text, "").matrix.jobs[0].rows
    assert one.key == same.key and one != same
    assert one.key != other.key


def test_an_error_names_the_line() -> None:
    with pytest.raises(SyncError) as caught:
        parse("\n\n<% set jobs = {'a'} %>", "t.j2")
    assert caught.value.where == "t.j2:3"


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_001,
        "<% set a0 = [{'test_file': 'x'}] %>" + "".join(f"<% set a{i} = a{i - 1} + a{i - 1} %>" for i in range(1, 40)),
        "<% set jobs = {'a': {'tests': [" + "{'test_file': 'x'}, " * 6000 + "]}} %>",
        "<% set a = " + "[" * 100_000,
    ],
)
def test_a_matrix_that_explodes_is_an_error_soon(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(SyncError):
        parse(text, "t.j2")
    assert time.monotonic() - start < 3


def test_lists_that_double_without_a_row_cost_nothing() -> None:
    text = "<% set a0 = [] %>" + "".join(f"<% set a{i} = a{i - 1} + a{i - 1} %>" for i in range(1, 5000))
    start = time.monotonic()
    assert parse(text, "").matrix.jobs == ()
    assert time.monotonic() - start < 3
