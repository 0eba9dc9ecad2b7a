"""An entry whose lines a later change replaced says by which; a ledger that says it falsely is found."""

import pytest
from window_world import Both, upstream_of

from sync_tools.config import Config
from sync_tools.ledger import store
from sync_tools.ledger.desk import Desk
from sync_tools.ledger.model import Ledger
from sync_tools.port.fork import Fork
from sync_tools.port.recheck import Recheck
from sync_tools.port.request import Request
from sync_tools.port.session import Places, start
from sync_tools.port.window_session import start_window

A, D = "docs/a.md", "docs/d.md"
STATES = [
    {A: (1, 2, 3, 4), D: (7, 8, 9)},
    {A: (1, 10, 2, 3, 11, 4), D: (7, 8, 9)},  # 101 adds two lines
    {A: (1, 12, 2, 3, 11, 4), D: (7, 8, 9)},  # 102 replaces the first of them
    {A: (1, 12, 2, 3, 11, 4), D: (7, 20, 9)},  # 103 is about another file
]


@pytest.fixture
def both(tmp_path) -> Both:
    return Both(upstream_of(STATES, tmp_path / "slime"), "main~3", "main", tmp_path)


def entries(both: Both, branch: str, pr: int) -> list[tuple[str, str | None]]:
    found = next(x for x in both.ledgers(branch).values() if x.upstream.pr == pr)
    return [(e.op, e.link) for e in found.entries]


@pytest.mark.parametrize("branch", ["window", "stack"])
def test_the_entry_names_the_change_that_took_its_last_line(both, branch):
    assert entries(both, branch, 101) == [("superseded", "THUDM/slime#102"), ("ported", None)]
    assert {op for op, _ in entries(both, branch, 102) + entries(both, branch, 103)} == {"ported"}


LIES = {
    "the lines stand": (101, 1, {"op": "superseded", "state": "settled", "link": "THUDM/slime#102", "reason": "so"}),
    "another change took them": (101, 0, {"link": "THUDM/slime#103"}),
    "nobody knows that change": (101, 0, {"link": "THUDM/slime#999"}),
    "the last change is replaced by an earlier one": (
        102,
        0,
        {"op": "superseded", "state": "settled", "link": "THUDM/slime#101", "reason": "so"},
    ),
}


def checked(both: Both, ledger: Ledger | None = None) -> list[str | None]:
    """The entries that check finds fault with, after a ledger was written over by hand."""
    desk = Desk(both.fork, Config())
    if ledger:
        desk.write(ledger)
    landings = desk.landings(None)
    recheck = Recheck(landings, Config(), both.upstream, desk.head(None))
    return [p.entry for x in landings for p in recheck.checked(x).problems]


@pytest.mark.parametrize("branch", ["window", "stack"])
@pytest.mark.parametrize("lie", LIES)
def test_a_false_one_is_found(both, branch, lie):
    both.fork.run("switch", "-q", f"sync/slime-{branch}")
    assert checked(both) == []
    pr, at, change = LIES[lie]
    ledger = store.read(both.fork.tree("HEAD"), Config(), str(pr))
    told = [e.model_copy(update=change) if n == at else e for n, e in enumerate(ledger.entries)]
    assert told[at].id in checked(both, ledger.model_copy(update={"entries": tuple(told)}))


def test_a_change_between_that_nobody_ported_is_followed_through(tmp_path):
    """101 and 103 are ported, 102 moves the lines of 101 down, 103 replaces one of them."""
    states = [
        {A: (1, 2, 3)},
        {A: (1, 10, 2, 11, 3)},
        {A: (30, 31, 1, 10, 2, 11, 3)},
        {A: (30, 31, 1, 12, 2, 11, 3)},
    ]
    upstream = upstream_of(states, tmp_path / "slime")
    both = Both(upstream, "main~3", "main~2", tmp_path)
    both.fork.run("switch", "-q", "sync/slime-stack")
    start(Request((103,), name="next"), Places(Config(), both.upstream, Fork(both.fork)))
    assert entries(both, "next", 101) == [("superseded", "THUDM/slime#103"), ("ported", None)]
    both.fork.run("switch", "-q", "sync/slime-next")
    assert checked(both) == []


def test_a_window_tells_what_it_replaces_of_earlier_ports(tmp_path):
    upstream = upstream_of(STATES, tmp_path / "slime")
    both = Both(upstream, "main~3", "main~2", tmp_path)
    both.fork.run("switch", "-q", "sync/slime-stack")
    start_window(Request(cutoff="main~2", tip="main", name="next"), Places(Config(), both.upstream, Fork(both.fork)))
    assert entries(both, "next", 101) == [("superseded", "THUDM/slime#102"), ("ported", None)]
    both.fork.run("switch", "-q", "sync/slime-next")
    assert checked(both) == []
