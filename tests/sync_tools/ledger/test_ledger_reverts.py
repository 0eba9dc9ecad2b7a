"""A revert names what it undoes, and both ledgers say so."""

from dataclasses import replace

import pytest
from ledger_world import Files, change_set, port

from sync_tools.ledger.model import Ledger
from sync_tools.ledger.reverts import restore, revert, reverted
from sync_tools.ledger.store import dumps, loads
from sync_tools.ledger.taken_back import brought_back, taken_back

REPO = "THUDM/slime"


class Before:
    """What lay before the commit upstream."""

    def before(self, commit: str) -> list[tuple[str, str]]:
        return [("d" * 40, "Tidy up"), ("c" * 40, "Add streaming (#1921)"), ("b" * 40, "Add streaming (#7)")]

    def changes(self, ledger: Ledger) -> None:
        return None


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
        ("Undo it (#2000)", f"This reverts commit {'d' * 40}.", ("THUDM/slime@dddddddddddd",)),
        ("Undo it (#2000)", f"This reverts commit {'e' * 40}.", ("THUDM/slime@eeeeeeeeeeee",)),
        ('Revert "Tidy up" (#2000)', "", ("THUDM/slime@dddddddddddd",)),
        ('Revert "Revert "Add streaming" (#1930)" (#2000)', "", ("THUDM/slime#1930",)),
        ("Revert the default to 3 (#2000)", "This reverts to the old way", ()),
    ],
)
def test_what_a_commit_says_it_undoes(subject: str, body: str, refs: tuple[str, ...]) -> None:
    assert reverted(replace(change_set([], 2000, subject), body=body), REPO, Before()) == refs


def test_the_undone_ledger_names_what_undid_it(known: Ledger) -> None:
    undone = revert(known, "THUDM/slime#2000")
    assert undone.counts == {"reverted": 1}
    assert {e.link for e in undone.entries} == {"THUDM/slime#2000"}
    assert loads(dumps(undone), "x") == undone


FIRST = b"one\ntwo\nthree\nfour\nfive\n"
SECOND = b"one\ntwo 2\nthree\nfour\nfive 5\n"


def ids(entries, kept: list[int]) -> list[str]:
    return sorted(entries[i].id for i in kept)


@pytest.mark.parametrize(
    ("after", "gone"),
    [(FIRST, [0, 1]), (SECOND.replace(b" 5", b""), [1]), (SECOND.replace(b" 2", b""), [0]), (b"zero\n" + SECOND, [])],
)
def test_only_entries_whose_lines_go_are_undone(after: bytes, gone: list[int]) -> None:
    told = port(change_set(Files({"a.sh": FIRST}, {"a.sh": SECOND}).changes()), Files({"a.sh": FIRST}).fork())
    later = change_set(Files({"a.sh": SECOND}, {"a.sh": after}).changes(), 2000)
    entries = told.landing.ledger.entries
    assert sorted(e.id for e in taken_back(entries, told.changes, later)) == ids(entries, gone)
    back = change_set(Files({"a.sh": after}, {"a.sh": SECOND}).changes(), 2001)
    mine = [entries[i] for i in gone]
    assert sorted(e.id for e in brought_back(mine, told.changes, back)) == ids(entries, gone)


def test_what_only_removed_is_undone_where_its_lines_come_back() -> None:
    short = b"one\nfour\nfive\n"
    told = port(change_set(Files({"a.sh": FIRST}, {"a.sh": short}).changes()), Files({"a.sh": FIRST}).fork())
    (entry,) = told.landing.ledger.entries
    whole = change_set(Files({"a.sh": short}, {"a.sh": FIRST}).changes(), 2000)
    half = change_set(Files({"a.sh": short}, {"a.sh": b"one\ntwo\nfour\nfive\n"}).changes(), 2000)
    assert [e.id for e in taken_back([entry], told.changes, whole)] == [entry.id]
    assert list(taken_back([entry], told.changes, half)) == []


def test_a_revert_of_the_revert_gives_the_entries_back(known: Ledger) -> None:
    assert restore(revert(known, "THUDM/slime#2000"), revert(known, "THUDM/slime#2000").entries) == known
