"""Imports in a ledger: compared as what they bind, and no edit passes for a merge."""

import pytest
from ledger_world import RULES, Files, change_set, port

from sync_tools.ledger.bindings import Imports
from sync_tools.ledger.check import check
from sync_tools.tree import Blob, MemoryTree, Overlay

BEFORE = b"import os\n\nX = os\n"
AFTER = b"import os\n\nimport slime.utils.data as D\nfrom slime.ray import one, two\n\nX = os\n"
PATH = "vime/a.py"


def told(final: bytes, before: bytes | None = BEFORE) -> list[str]:
    """What `check` says of an honest ledger whose file of the fork was edited before anybody looked."""
    files = Files({} if before is None else {"slime/a.py": BEFORE}, {"slime/a.py": AFTER})
    done = port(change_set(files.changes()), MemoryTree({} if before is None else {PATH: Blob(before)}))
    written = Overlay(done.landing.written, {PATH: Blob(final)})
    landing = done.landing.__class__(done.landing.path, done.landing.ledger, written, done.landing.before)
    return [p.what for p in check(landing, done.changes, RULES, written)]


def ported() -> bytes:
    return AFTER.replace(b"slime", b"vime")


def test_imports_as_translated_are_no_problem() -> None:
    assert told(ported()) == []


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        (b"import vime.utils.data as D", b"import  vime.utils.data as D"),
        (b"import vime.utils.data as D", b"import D as vime_utils_data"),
        (b"from vime.ray import one, two", b"from vime.utils.data import one, two"),
        (b"from vime.ray import one, two", b"from vime.ray import two, one"),
        (b"from vime.ray import one, two", b"from vime.ray import one, two  # ours"),
    ],
)
@pytest.mark.parametrize("before", [BEFORE, None])
def test_an_import_edited_after_the_port_is_found(line: bytes, edited: bytes, before: bytes | None) -> None:
    assert any(what.startswith("says ported, but is diverged") for what in told(ported().replace(line, edited), before))


def test_a_merge_with_imports_of_the_fork_is_no_problem() -> None:
    ours = b"import os\nfrom vime.ray import mine\n\nX = os\n"
    merged = ported().replace(b"import one, two", b"import mine, one, two")
    assert [w for w in told(merged, ours) if "diverged" in w] == []


def test_bindings_stand_on_their_lines() -> None:
    found = Imports.of([b"from .a import (", b"    b,", b"    c as d,", b")", b"import e.f"])
    assert found.on(1) == {(".a", "b", "b")} and found.on(2) == {(".a", "c", "d")}
    assert found.on(0) == found.on(3) == frozenset() and found.on(4) == {("e.f", "", "")}
    assert found.on(5) is None and Imports.of([b"def ("]).statements == ()
