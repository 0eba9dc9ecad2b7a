"""What a port brought is followed to HEAD; later ports and overlays account for what they change."""

from dataclasses import replace

import pytest
from ledger_world import RULES, Files, Port, change_set, file_change, image, module, place, port, translate

from sync_tools.config import Config
from sync_tools.config import Overlay as Deliberate
from sync_tools.ledger.check import Problem, check
from sync_tools.ledger.history import written_at
from sync_tools.ledger.landing import Landing
from sync_tools.ledger.reverts import revert
from sync_tools.tree import Blob, Overlay, Tree

PATH, OURS = "slime/utils/data.py", "vime/utils/data.py"
FIRST, SECOND = module("a", 4, (1, 2)), module("a", 4, (1, 2, 3)).replace(b"a_1 + 1", b"a_1 + 9")


@pytest.fixture
def first() -> Port:
    files = Files({PATH: module("a", 4)}, {PATH: FIRST})
    return port(change_set(files.changes()), files.fork())


def later(tree: Tree, before: bytes, after: bytes | None, to: str = PATH, reverts: tuple[str, ...] = ()) -> Landing:
    change = file_change(image(PATH, before), image(to, after), 90)
    landing = port(change_set([change], 2000, "Later (#2000)", "e" * 40), tree, path="ledgers/slime-2000.json").landing
    return replace(landing, ledger=landing.ledger.model_copy(update={"reverts": reverts}), port_at=1, written_at=1)


def problems(told: Port, head: Tree, after: tuple[Landing, ...] = (), config: Config | None = None) -> list[Problem]:
    return list(check(told.landing, told.changes, replace(RULES, config=config or Config()), head, after))


def with_file(tree: Tree, data: bytes | None) -> Overlay:
    return Overlay(tree, {OURS: None if data is None else Blob(data)})


def test_lines_that_moved_or_were_joined_by_others_still_stand(first: Port) -> None:
    data = b'"""Ours."""\n\n' + translate(PATH, FIRST).data.replace(
        b"    first = a_2 + 1\n", b"    first = a_2 + 1\n    own = 1\n"
    )
    assert problems(first, with_file(first.landing.written, data)) == []


@pytest.mark.parametrize("data", [None, b"", translate(PATH, FIRST).data.replace(b"a_1 + 1", b"a_1 + 7")])
def test_lines_that_are_gone_or_changed_are_named(first: Port, data: bytes | None) -> None:
    found = problems(first, with_file(first.landing.written, data))
    assert found
    assert all("gone or changed" in p.what and p.entry for p in found)


def test_an_overlay_accounts_for_its_path(first: Port) -> None:
    config = Config(overlays=(Deliberate(path="vime/utils/**", why="rewritten for speed"),))
    assert problems(first, with_file(first.landing.written, b""), config=config) == []


def test_a_later_port_accounts_for_what_it_changes(first: Port) -> None:
    second = later(first.landing.written, FIRST, SECOND)
    assert problems(first, second.written, (second,)) == []


def test_what_another_commit_takes_before_a_later_port_is_still_a_problem(first: Port) -> None:
    broken = with_file(first.landing.written, translate(PATH, FIRST).data.replace(b"a_2 + 1", b"a_2 + 7"))
    second = later(broken, FIRST, SECOND)
    assert len(problems(first, second.written, (second,))) == 1


def test_a_later_rename_is_followed(first: Port) -> None:
    second = later(first.landing.written, FIRST, FIRST, to="slime/utils/moved.py")
    assert second.written.blob(OURS) is None
    assert problems(first, second.written, (second,)) == []
    spoilt = Overlay(second.written, {place("slime/utils/moved.py"): Blob(b"")})
    assert problems(first, spoilt, (second,))


def test_a_deletion_by_a_later_port_is_accounted_for(first: Port) -> None:
    second = later(first.landing.written, FIRST, None)
    assert problems(first, second.written, (second,)) == []


def test_a_revert_is_told_on_both_sides(first: Port) -> None:
    undo = later(first.landing.written, FIRST, module("a", 4), reverts=("THUDM/slime#1921",))
    assert "reverts it" in problems(first, undo.written, (undo,))[0].what
    told = replace(first, landing=replace(first.landing, ledger=revert(first.landing.ledger, "THUDM/slime#2000")))
    assert problems(told, undo.written, (undo,)) == []
    silent = replace(undo, ledger=undo.ledger.model_copy(update={"reverts": ()}))
    assert problems(told, undo.written, (silent,))


def test_a_ledger_that_was_written_again_does_not_look_back_at_earlier_ports(first: Port) -> None:
    second = later(first.landing.written, FIRST, SECOND)
    rewritten = replace(first.landing, written=second.written, written_at=2)
    told = port(first.changes, first.landing.before)
    found = problems(replace(told, landing=rewritten), second.written, (second,))
    assert not any("gone or changed" in p.what for p in found)


def test_ranges_are_those_of_the_commit_that_wrote_them(first: Port) -> None:
    ledger = first.landing.ledger
    decided = ledger.model_copy(update={"entries": tuple(e.model_copy(update={"reason": "x"}) for e in ledger.entries)})
    moved = ledger.model_copy(update={"entries": ledger.entries[1:]})
    assert written_at([("c3", decided), ("c2", ledger), ("c1", ledger)]) == "c1"
    assert written_at([("c3", ledger), ("c2", moved), ("c1", ledger)]) == "c3"
    assert written_at([("c2", ledger), ("c1", None)]) == "c2"
