"""What is decided until a day is open again after it, everywhere; overlays too; and what upstream has taken in is told."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from ledger_world import change_set, port, sample

from sync_tools.commands.options import Settings
from sync_tools.config import Config, Overlay
from sync_tools.ledger.due import as_of, ran_out

DAY, AFTER = date(2027, 3, 31), date(2027, 4, 1)
OWNED = "vime/utils/http_utils.py"


@pytest.fixture
def ask(sync: Callable, upstream: Path) -> Callable[..., tuple[int, dict]]:
    def run(command: str, *words: object, repo: Path, **options: object) -> tuple[int, dict]:
        answer = sync(*command.split(), *words, "--json", repo=repo, upstream=upstream, **options)
        return answer.code, json.loads(answer.out)

    return run


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> Callable[[date], None]:
    return lambda day: monkeypatch.setattr(Settings, "today", day)


@pytest.fixture
def deferred(ask, imported, git, today) -> Path:
    """A fork with #1921 ported and one of its entries deferred until DAY."""
    today(DAY)
    fork = imported(1921)
    assert ask("port", 1921, repo=fork)[0] == 0
    git(fork, "switch", "-q", "sync/slime-pr-1921")
    entry = ask("ledger show", 1921, repo=fork)[1]["ledger"]["entries"][0]["id"]
    options = {"as": "deferred", "why": "waits for vLLM 0.12", "until": DAY, "owner": "Grace Doe", "repo": fork}
    assert ask("ledger resolve", 1921, entry, **options)[0] == 0
    git(fork, "commit", "-qam", "defer")
    return fork


def test_until_the_day_nothing_waits(ask, deferred):
    assert ask("ledger list", repo=deferred)[0] == 0
    assert ask("ledger show", 1921, repo=deferred)[0] == 0
    assert not [p for p in ask("ledger check", repo=deferred)[1]["problems"] if "ran out" in p["what"]]


def test_after_the_day_it_is_open_everywhere(ask, sync, deferred, today, upstream):
    today(AFTER)
    code, value = ask("ledger list", repo=deferred)
    assert (code, value["ledgers"][0]["state"], value["ledgers"][0]["waiting"]) == (1, "open", 1)
    code, value = ask("ledger show", 1921, repo=deferred)
    (entry,) = [e for e in value["ledger"]["entries"] if e["state"] == "open"]
    assert (code, entry["op"]) == (1, "deferred") and "ran out on 2027-03-31: decide again" in entry["reason"]
    assert "Open" in sync("ledger", "show", 1921, repo=deferred, upstream=upstream).out
    code, value = ask("ledger check", repo=deferred)
    assert code == 1
    assert (entry["id"], "ran out on 2027-03-31: decide again") in [(p["entry"], p["what"]) for p in value["problems"]]


def test_a_port_of_it_again_says_so(ask, deferred, today):
    code, value = ask("port", 1921, "--dry-run", repo=deferred)
    assert (code, value["status"]) == (0, "present")
    today(AFTER)
    code, value = ask("port", 1921, "--dry-run", repo=deferred)
    assert (code, value["status"]) == (1, "unresolved")
    assert [o["why"] for o in value["ports"][0]["overdue"]] == ["waits for vLLM 0.12"]


def test_what_waits_is_listed_by_owner_and_day(ask, sync, deferred, today):
    code, value = ask("ledger list", "--waiting", repo=deferred)
    (row,) = value["waiting"]
    assert (code, row["who"], row["until"], row["state"]) == (0, "Grace Doe", "2027-03-31", "decided")
    assert ask("ledger list", "--owner", "grace", repo=deferred)[1]["waiting"] == [row]
    assert ask("ledger list", "--owner", "Ada", repo=deferred)[1]["waiting"] == []
    today(AFTER)
    code, value = ask("ledger list", "--waiting", repo=deferred)
    assert (code, value["waiting"][0]["state"]) == (1, "ran out")
    told = sync("ledger", "list", "--waiting", repo=deferred).out.splitlines()
    assert told[0].startswith("Grace Doe") and told[1].split()[:5] == ["ran", "out", "on", "2027-03-31", "deferred"]


def test_the_written_pages_say_when_it_comes_back(deferred):
    page = (deferred / "ledgers/slime-1921.md").read_text()
    assert "comes back: deferred" in page and "Grace Doe" in page
    assert "1 after 2027-03-31" in (deferred / "ledgers/README.md").read_text()


def test_resolve_needs_a_person_while_others_are_open(ask, deferred, today):
    today(AFTER)
    other = ask("ledger show", 1921, repo=deferred)[1]["ledger"]["entries"][1]["id"]
    options = {"as": "dropped", "why": "not wanted", "repo": deferred}
    code, value = ask("ledger resolve", 1921, other, "--dry-run", **options)
    assert (code, value["open"]) == (1, 1)
    first = next(
        e["id"] for e in ask("ledger show", 1921, repo=deferred)[1]["ledger"]["entries"] if e["state"] == "open"
    )
    assert ask("ledger resolve", 1921, first, **options)[0] == 0


@pytest.fixture
def overlaid(ask, imported, git, today, upstream) -> Callable[[str], Path]:
    """A fork with an edit of its own in a file that #1926 changes, an overlay that says so, and #1926 ported."""

    def made(edit: str, until: str = "2027-03-31") -> Path:
        today(DAY)
        fork = imported(1926)
        path = fork / OWNED
        path.write_text(path.read_text() + edit)
        overlay = f'[[overlays]]\npath = "{OWNED}"\nwhy = "ours counts"\nwho = "Ada"\nuntil = "{until}"\n'
        (fork / "sync.toml").write_text(f"schema = 1\n\n{overlay}")
        git(fork, "add", "-A")
        git(fork, "commit", "-qm", "ours")
        ask("port", 1926, repo=fork)
        git(fork, "switch", "-q", "sync/slime-pr-1926")
        return fork

    return made


def said(value: dict, ledger: str = "sync.toml") -> list[str]:
    return [p["what"] for p in value["problems"] if p["ledger"] == ledger]


def test_an_overlay_runs_out(ask, overlaid, today):
    fork = overlaid("\n\nOURS = 1\n")
    assert said(ask("ledger check", repo=fork)[1]) == []
    today(AFTER)
    code, value = ask("ledger check", repo=fork)
    assert (code, said(value)) == (1, [f"the overlay {OWNED} ran out on 2027-03-31: decide again (ours counts)"])


def test_an_overlay_that_upstream_has_taken_in_is_reported(ask, overlaid):
    code, value = ask("ledger check", repo=overlaid(""))
    assert code == 1
    assert said(value) == [f"the overlay {OWNED} is translated upstream as of THUDM/slime#1926: remove it"]


def test_a_difference_that_no_overlay_explains_is_told(ask, overlaid):
    fork = overlaid("\n\nOURS = 1\n")
    assert ask("ledger check", repo=fork)[1]["undeclared"] == []
    (fork / "sync.toml").unlink()
    assert OWNED in ask("ledger check", repo=fork)[1]["undeclared"]


def test_an_overlay_that_was_renewed_holds_for_the_entries_that_it_explains():
    files, fork = sample()
    e = port(change_set(files.changes()), fork).landing.ledger.entries[0]
    e = e.model_copy(update={"op": "diverged", "state": "settled", "until": "2027-03-31"})
    ledger = port(change_set(files.changes()), fork).landing.ledger.model_copy(update={"entries": (e,)})
    assert ran_out(ledger, Config(), AFTER) == (e,)
    renewed = Overlay(path=e.downstream.path, why="ours counts", until="2028-03-31")
    assert ran_out(ledger, Config(overlays=(renewed,)), AFTER) == ()
    assert as_of(ledger, Config(overlays=(renewed,)), AFTER) == ledger
