"""A ledger that other rules made is not derived again, but what holds by whatever rules is still checked."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

LEDGER = "ledgers/slime-1921.json"
OTHER = "0123456789abcdef"


@pytest.fixture
def ported(sync: Callable, upstream: Path, imported: Callable, git: Callable) -> Path:
    fork = imported(1921)
    assert sync("port", 1921, repo=fork, upstream=upstream).code == 0
    git(fork, "switch", "-q", "sync/slime-pr-1921")
    return fork


@pytest.fixture
def checked(sync: Callable, upstream: Path, ported: Path, git: Callable) -> Callable[..., dict]:
    """The check of the ledger after an edit of its JSON, which is committed with its Markdown as it was."""

    def run(edit: Callable[[dict], object]) -> dict:
        path = ported / LEDGER
        ledger = json.loads(path.read_text())
        edit(ledger)
        path.write_text(json.dumps(ledger, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        git(ported, "commit", "-qam", "edit", "--allow-empty")
        answer = sync("ledger", "check", 1921, "--json", repo=ported, upstream=upstream)
        value = json.loads(answer.out)
        assert answer.code == bool(value["problems"])
        return value

    return run


def other_rules(ledger: dict) -> None:
    ledger["made_by"]["rules"] = OTHER


def relabel(ledger: dict) -> dict:
    """What today's rules would say otherwise: another operation and other rules for an entry."""
    entry = next(e for e in ledger["entries"] if e["op"] == "translated")
    entry |= {"op": "ported", "rules": []}
    return entry


def test_a_port_names_what_made_it_and_a_second_port_the_same(sync, ported, upstream, git):
    made = json.loads((ported / LEDGER).read_text())["made_by"]
    assert set(made) == {"rules", "markdown"}
    git(ported, "switch", "-q", "-")
    before = git(ported, "show", f"sync/slime-pr-1921:{LEDGER}")
    git(ported, "branch", "-qD", "sync/slime-pr-1921")
    assert sync("port", 1921, repo=ported, upstream=upstream).code == 0
    assert git(ported, "show", f"sync/slime-pr-1921:{LEDGER}") == before


def test_an_honest_ledger_of_other_rules_that_still_derives_is_no_note(checked):
    assert checked(other_rules)["older"] == []


def test_one_that_does_not_is_told_and_is_no_problem(checked):
    value = checked(lambda ledger: (other_rules(ledger), relabel(ledger)))
    assert (value["problems"], value["older"]) == ([], [LEDGER])


def test_the_same_under_todays_rules_is_a_problem(checked):
    value = checked(relabel)
    assert value["older"] == [] and any("says ported" in p["what"] for p in value["problems"])


def test_the_markdown_of_another_renderer_is_no_problem(checked, ported):
    path = ported / "ledgers/slime-1921.md"
    path.write_text(path.read_text() + "\nother words\n")
    assert checked(lambda ledger: ledger["made_by"].update(markdown=0))["older"] == [LEDGER]
    value = checked(lambda ledger: ledger["made_by"].update(markdown=1))
    assert value["older"] == [] and "renders" in value["problems"][0]["what"]


def lines_lost(ledger: dict) -> None:
    ledger["entries"].remove(next(e for e in ledger["entries"] if e["added"]))


def twice(ledger: dict) -> None:
    ledger["entries"].append(next(e for e in ledger["entries"] if e["added"]))


def no_reason(ledger: dict) -> None:
    ledger["entries"][0] |= {"op": "dropped", "reason": ""}


def other_place(ledger: dict) -> None:
    entry = next(e for e in ledger["entries"] if e["op"] == "ported" and e["downstream"]["lines"])
    entry["downstream"]["lines"]["start"] += 1


def other_lines(ledger: dict) -> None:
    entry = next(e for e in ledger["entries"] if e["added"] > 1)
    entry["upstream"]["digest"] = "0" * 64


def undecided(ledger: dict) -> None:
    ledger["entries"][0]["state"] = "decided"


def other_commit(ledger: dict) -> None:
    ledger["upstream"]["subject"] = "Something else (#1921)"


def other_file(ledger: dict) -> None:
    ledger["entries"][0]["upstream"]["path"] = "slime/nowhere.py"


LIES = [lines_lost, twice, no_reason, other_place, other_lines, undecided, other_commit, other_file]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_what_holds_by_any_rules_is_still_checked(checked, lie):
    value = checked(lambda ledger: (other_rules(ledger), relabel(ledger), lie(ledger)))
    assert value["problems"] and value["older"] == [LEDGER]


def test_lines_that_went_later_are_missed(checked, ported):
    file = ported / "vime/rollout/vllm_streaming_rollout.py"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-3]))
    value = checked(lambda ledger: (other_rules(ledger), relabel(ledger)))
    assert any("gone or changed since" in p["what"] for p in value["problems"])
