"""Laws of the budget: the rows share the leftovers out, and what update writes is what check accepts."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.configread import parse_as
from sync_tools.verify.budget import Allowed, Budget, account
from sync_tools.verify.budgeting import Change, Grant, follow, written
from sync_tools.verify.leftovers import Leftover

DAY = date(2027, 1, 1)
WORDS = ("slime", "slime_x", "--sglang-x", "sglang", "sglang.srt.x", "SGLANG")
lefts = st.builds(Leftover, st.sampled_from(["a.py", "b/c.py", "b/d[1].py"]), st.integers(1, 9), st.sampled_from(WORDS))
rows = st.builds(
    Allowed,
    path=st.sampled_from(["a.py", "b/**", "**"]),
    word=st.sampled_from(["", "slime", "sglang", "SGLANG"]),
    count=st.integers(1, 4),
    reason=st.just("because"),
    until=st.sampled_from([None, "2026-12-31", "2027-01-01"]),
)
budgets = st.builds(Budget, leftover=st.lists(rows, max_size=4).map(tuple))


@given(st.lists(lefts, max_size=12), budgets)
@settings(max_examples=60, deadline=None)
def test_every_leftover_is_told_once(found, budget):
    told = account(found, budget, DAY)
    assert sorted([left for use in told.uses for left in use.found] + list(told.unexplained)) == sorted(found)


@given(st.lists(lefts, max_size=12), budgets)
@settings(max_examples=60, deadline=None)
def test_with_a_reason_for_all_nothing_is_left_to_say(found, budget):
    content = written(None, tuple(Change(None, row) for row in budget.leftover))
    content = written(content, follow(account(found, budget, DAY), Grant(lambda left: "because")))
    after = parse_as(Budget, content, "residue.toml", "")
    told = account(found, after, DAY)
    assert not told.unexplained
    assert not any(use.over or use.room for use in told.uses)
    assert all(c.what == "kept" for c in follow(told, Grant()))


@given(st.lists(lefts, max_size=12), budgets)
@settings(max_examples=60, deadline=None)
def test_without_a_reason_no_number_grows(found, budget):
    for change in follow(account(found, budget, DAY), Grant()):
        assert change.before is not None
        assert change.after is None or change.after.count <= change.before.count
        assert change.what in ("kept", "lowered", "removed")


def test_a_row_holds_through_its_last_day() -> None:
    row = Allowed(path="a.py", count=1, reason="because", until="2027-01-01")
    left = [Leftover("a.py", 1, "slime")]
    spent = [account(left, Budget(leftover=(row,)), day).uses[0].over for day in (DAY, date(2027, 1, 2))]
    assert spent == [0, 1]


def test_a_row_grows_only_where_every_leftover_has_a_reason() -> None:
    row = Allowed(path="**", count=1, reason="because")
    told = account([Leftover("a.py", 1, "slime"), Leftover("b.py", 1, "slime")], Budget(leftover=(row,)), DAY)
    [some] = follow(told, Grant(lambda left: "a name of theirs" if left.path == "a.py" else None))
    [each] = follow(told, Grant(lambda left: "a name of theirs"))
    assert some.what == "kept" and each.what == "raised" and each.after is not None
    assert (each.after.count, each.after.reason) == (2, "because; a name of theirs")
