import pytest

from sync_tools.ci.places import remembered
from sync_tools.config import Place, parse
from sync_tools.errors import SyncError

CONTENT = """# ours
schema = 1

[ci]
# where tests are
tests = "tests"

[[ci.exempt]]
match = "tests/x/**"
reason = "needs hardware"

[seam]
style = "inline"  # on purpose
"""


def place(job: str, to: str, why: str = "") -> Place:
    return Place(test_file="test_a.py", job=job, to=to, why=why)


def test_a_place_is_added_and_everything_else_stays() -> None:
    content = remembered(CONTENT, place("big", "short", "too slow"))
    assert parse(content, "").ci.places == (place("big", "short", "too slow"),)
    lines = content.splitlines()
    assert [line for line in CONTENT.splitlines() if line and line not in lines] == []


@pytest.mark.parametrize(
    "content", ["", "schema = 1\n", '[ci]\nplaces = [{test_file = "z", job = "a", to = "b"}]\n', CONTENT]
)
def test_it_finds_its_way_into_any_file(content: str) -> None:
    assert parse(remembered(content, place("big", "short")), "").ci.places[-1] == place("big", "short")


def test_moving_on_keeps_upstreams_job_and_moving_back_forgets() -> None:
    once = remembered(CONTENT, place("big", "short"))
    twice = remembered(once, place("short", "other"))
    assert parse(twice, "").ci.places == (place("big", "other"),)
    assert remembered(twice, place("other", "big")) == CONTENT
    assert parse(remembered(once, place("big", "short", "why")), "").ci.places == (place("big", "short", "why"),)


def test_other_rows_are_left_alone() -> None:
    once = remembered(CONTENT, Place(test_file="test_b.py", job="big", to="short"))
    assert len(parse(remembered(once, place("big", "short")), "").ci.places) == 2


@pytest.mark.parametrize("content", ["[ci", "ci = 1\n", "[ci]\nplaces = 3\n"])
def test_a_broken_file_is_an_error(content: str) -> None:
    with pytest.raises(SyncError):
        remembered(content, place("big", "short"))
