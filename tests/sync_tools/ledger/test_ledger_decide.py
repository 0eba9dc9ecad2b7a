"""Decisions: who, why, until; kept over a re-port, offered again, and never a claim that lines stand."""

from datetime import date

import pytest
from ledger_world import RULES, Port, change_set, port, sample

from sync_tools.errors import SyncError
from sync_tools.ledger.check import check
from sync_tools.ledger.decide import carry, offered, resolve, settle, waiting
from sync_tools.ledger.model import Entry, Ledger
from sync_tools.ledger.overview import overview, state
from sync_tools.ledger.reverts import revert
from sync_tools.ledger.store import dumps, loads

WHO, TODAY = "Ada <ada@example.org>", date(2026, 6, 1)


@pytest.fixture(scope="module")
def told() -> Port:
    files, fork = sample()
    return port(change_set(files.changes()), fork)


def an(ledger: Ledger, op: str) -> Entry:
    return next(e for e in ledger.entries if e.op == op)


def problems(told: Port, ledger: Ledger) -> list[str]:
    landing = type(told.landing)(told.landing.path, ledger, told.landing.written, told.landing.before)
    return [p.what for p in check(landing, told.changes, RULES, landing.written)]


def test_a_decision_says_who_why_and_until(told: Port) -> None:
    e = an(told.landing.ledger, "deferred")
    ledger = resolve(told.landing.ledger, e.id[:8], "dropped", "the model has no images", WHO, "2026-12-31")
    decided = ledger.entry(e.id)
    assert (decided.op, decided.state, decided.reason, decided.who, decided.until) == (
        "dropped",
        "decided",
        "the model has no images",
        WHO,
        "2026-12-31",
    )
    assert loads(dumps(ledger), "x") == ledger
    assert problems(told, ledger) == []


def test_a_decision_can_be_taken_again(told: Port) -> None:
    e = an(told.landing.ledger, "deferred")
    once = resolve(told.landing.ledger, e.id, "dropped", "no images", WHO)
    twice = resolve(once, e.id, "diverged", "done in another file", WHO)
    assert [(d.was, d.op) for d in twice.decisions] == [("deferred", "diverged")]
    assert problems(told, twice) == []


def test_a_decision_that_was_not_recorded_is_a_lie(told: Port) -> None:
    e = an(told.landing.ledger, "deferred")
    ledger = resolve(told.landing.ledger, e.id, "dropped", "no images", WHO).model_copy(update={"decisions": ()})
    assert problems(told, ledger)


@pytest.mark.parametrize(
    ("ident", "op", "why", "until", "said"),
    [
        ("zzzz", "dropped", "x", None, "no entry"),
        ("", "dropped", "x", None, "no entry"),
        (None, "ported", "x", None, "no decision makes"),
        (None, "nonsense", "x", None, "no decision makes"),
        (None, "dropped", "  ", None, "reason"),
        (None, "dropped", "x", "soon", "not a date"),
        (None, "superseded", "by something", None, "by what"),
    ],
)
def test_a_decision_that_says_too_little_is_refused(
    told: Port, ident: str | None, op: str, why: str, until: str | None, said: str
) -> None:
    ident = an(told.landing.ledger, "deferred").id if ident is None else ident
    with pytest.raises(SyncError, match=said):
        resolve(told.landing.ledger, ident, op, why, WHO, until)


def test_a_re_port_offers_and_does_not_apply(told: Port) -> None:
    e = an(told.landing.ledger, "absent")
    earlier = resolve(told.landing.ledger, e.id, "dropped", "we removed the example", WHO)
    again = carry(told.landing.ledger, earlier)
    assert again.entry(e.id) == e
    assert [(d.entry, d.op, d.applied) for d in offered(again)] == [(e.id, "dropped", False)]
    assert problems(told, again) == []
    assert offered(resolve(again, e.id, "dropped", "still", WHO)) == ()


def test_a_deferral_runs_out(told: Port) -> None:
    e = an(told.landing.ledger, "deferred")
    ledger = resolve(told.landing.ledger, e.id, "deferred", "waits for vLLM 0.12", WHO, "2026-07-01")
    assert e.id not in {x.id for x in waiting(ledger, TODAY)}
    assert e.id in {x.id for x in waiting(ledger, date(2026, 7, 2))}


def test_a_resolution_by_hand_is_a_decision(told: Port) -> None:
    e = an(told.landing.ledger, "ported").model_copy(update={"op": "diverged", "state": "open"})
    ledger = told.landing.ledger.model_copy(update={"entries": (e,)})
    assert settle(ledger, {e.downstream.path}, WHO).entry(e.id).state == "decided"
    assert settle(ledger, {"other.py"}, WHO) == ledger


def test_the_overview_has_a_row_with_the_state(told: Port) -> None:
    (row,) = overview([told.landing.ledger], TODAY)
    assert (row.ref, row.state, row.waiting) == ("THUDM/slime#1921", "open", 2)
    ledger = told.landing.ledger
    for e in ledger.open:
        ledger = resolve(ledger, e.id, "dropped", "not wanted", WHO)
    assert state(ledger, TODAY) == "done"
    assert state(revert(ledger, "THUDM/slime#3"), TODAY) == "reverted"
    assert state(revert(ledger, "THUDM/slime#3", ledger.entries[:1]), TODAY) == "done"
