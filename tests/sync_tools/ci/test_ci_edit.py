import pytest
from ci_fixtures import row, template

from sync_tools.ci.edit import add_row, move_rows
from sync_tools.ci.matrix import parse
from sync_tools.errors import SyncError

A, B = row("a"), row("b")
TEXT = template({"one": [A, B], "two": "shared", "three": "shared", "empty": []}, {"shared": [row("c"), row("d")]})


def rows(data: bytes) -> dict[str, list[str]]:
    return {job.name: [r.test_file[5:-3] for r in job.rows] for job in parse(data.decode(), "").matrix.jobs}


def test_a_row_is_added_at_the_end_in_the_style_of_the_job() -> None:
    edited = add_row(TEXT.encode(), "t", "one", "test_n.py", 4, {"test_args": "--x 'y'"})
    new = "        {'test_file': 'test_n.py', 'test_args': \"--x 'y'\", 'num_gpus': 4},\n"
    assert edited.data.decode() == TEXT.replace(f"        {B},\n", f"        {B},\n{new}")
    assert edited.jobs == ("one",) and edited.rows[0].test_file == "test_n.py"


def test_quotes_are_those_of_the_job() -> None:
    text = TEXT.replace("'", '"')
    assert b'{"test_file": "test_n.py", "num_gpus": 0}' in add_row(text.encode(), "t", "one", "test_n.py", 0).data


def test_an_equal_row_is_not_added_again() -> None:
    assert add_row(TEXT.encode(), "t", "one", "test_a.py", 8).data == TEXT.encode()
    assert rows(add_row(TEXT.encode(), "t", "one", "test_a.py", 4).data)["one"] == ["a", "b", "a"]


def test_a_shared_list_takes_the_row_for_all_its_jobs() -> None:
    edited = add_row(TEXT.encode(), "t", "three", "test_n.py", 0)
    assert edited.jobs == ("two", "three")
    assert rows(edited.data)["two"] == ["c", "d", "n"]


def test_an_empty_list_takes_a_row() -> None:
    for text in (TEXT, TEXT.replace("'tests': [\n      ]", "'tests': []")):
        assert rows(add_row(text.encode(), "t", "empty", "test_n.py", 0).data)["empty"] == ["n"]


def test_rows_move_with_all_their_options() -> None:
    text = TEXT.replace(B, row("a", 8, test_args="--x"))
    edited = move_rows(text.encode(), "t", "test_a.py", "empty")
    assert rows(edited.data) == {"one": [], "two": ["c", "d"], "three": ["c", "d"], "empty": ["a", "a"]}
    assert (edited.origin, edited.jobs) == ("one", ("one", "empty"))
    assert row("a", 8, test_args="--x") in edited.data.decode()


def test_moving_out_of_a_shared_list_names_all_its_jobs() -> None:
    edited = move_rows(TEXT.encode(), "t", "test_c.py", "one", "two")
    assert edited.jobs == ("two", "three", "one")
    assert rows(edited.data)["three"] == ["d"]


def test_what_stands_in_its_place_already_stays() -> None:
    edited = move_rows(TEXT.encode(), "t", "test_a.py", "one", "upstream-job")
    assert edited.data == TEXT.encode() and edited.origin == "upstream-job"


@pytest.mark.parametrize(
    ("test_file", "to", "origin", "what"),
    [
        ("test_a.py", "none", None, "no job 'none'"),
        ("test_z.py", "one", None, "no row"),
        ("test_c.py", "one", None, "stands in two, three"),
        ("test_a.py", "two", "three", "no row for 'test_a.py' in three"),
    ],
)
def test_a_move_that_makes_no_sense_is_an_error(test_file: str, to: str, origin: str | None, what: str) -> None:
    with pytest.raises(SyncError, match=what):
        move_rows(TEXT.encode(), "t", test_file, to, origin)


@pytest.mark.parametrize("text", ["name: x\n", "<% set jobs = {'one': {'tests': rows | list}} %>", "<% set jobs = {"])
def test_a_template_that_cannot_be_edited_is_an_error(text: str) -> None:
    with pytest.raises(SyncError):
        add_row(text.encode(), "t", "one", "test_n.py", 0)
