"""A revert names what it undoes, and both ledgers say so."""

from dataclasses import replace

import pytest
from ledger_world import Files, change_set, port

from sync_tools.ledger.decide import revert
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.reverts import reverted
from sync_tools.ledger.store import dumps, loads

REPO = "THUDM/slime"


@pytest.fixture(scope="module")
def known() -> Ledger:
    files = Files({"a.sh": b"a\n"}, {"a.sh": b"b\n"})
    return port(change_set(files.changes()), files.fork()).landing.ledger


@pytest.mark.parametrize(
    ("subject", "body", "refs"),
    [
        ('Revert "Add streaming" (#2000)', "", ("THUDM/slime#1921",)),
        ('Revert "Add streaming (#1921)" (#2000)', "", ("THUDM/slime#1921",)),
        ('Revert "Something nobody ported (#7)" (#2000)', "", ("THUDM/slime#7",)),
        ("Undo it (#2000)", f"This reverts commit {'c' * 40}.", ("THUDM/slime#1921",)),
        ("Undo it (#2000)", "Reverts #12\n\nand Reverts nothing", ("THUDM/slime#12",)),
        ("Undo it (#2000)", "Reverts other/fork#12", ("other/fork#12",)),
        ('Revert "Something else" (#2000)', "", ()),
        ("Revert the default to 3 (#2000)", "This reverts to the old way", ()),
    ],
)
def test_what_a_commit_says_it_undoes(known: Ledger, subject: str, body: str, refs: tuple[str, ...]) -> None:
    assert reverted(replace(change_set([], 2000, subject), body=body), REPO, [known]) == refs


def test_the_undone_ledger_names_what_undid_it(known: Ledger) -> None:
    undone = revert(known, "THUDM/slime#2000")
    assert undone.counts == {"reverted": 1}
    assert {e.link for e in undone.entries} == {"THUDM/slime#2000"}
    assert loads(dumps(undone), "x") == undone
