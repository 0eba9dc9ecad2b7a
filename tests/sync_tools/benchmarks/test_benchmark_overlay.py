"""The edits that are drawn for a replay, and the oracle that tells what became of them."""

import pytest

from benchmarks.overlay_edits import Drawn, Edit, applied, draw
from benchmarks.overlay_file import Piece, file
from benchmarks.overlay_oracle import Oracle, parses

PATH, OTHER = "p/a.py", "p/b.py"
BASE = b"""import os


def first(a):
    one = a.x
    two = a.y
    return one + two


def second(a):
    three = a.z
    four = a.w
    return three + four
"""
CHANGED = BASE.replace(b"    return one + two\n", b"    return one * two\n")
MOVED = (
    b"import os\n\n\n"
    + BASE[BASE.index(b"def second") :]
    + b"\n\n"
    + BASE[BASE.index(b"def first") : BASE.index(b"\n\ndef second")]
)


def edit(number: int, *pieces: Piece, way: str = "insert") -> Edit:
    return Edit(number, "near", way, PATH, pieces, file(PATH, BASE).symbol(pieces[0].start))


INSERT = edit(0, Piece(5, 5, ("    our_edit_000 = 1",)))
DELETE = edit(1, Piece(10, 11, ()), way="delete")


def outcomes(tip: bytes, final: bytes, *edits: Edit, told=()) -> list[str]:
    oracle = Oracle(Drawn(edits, {}), {PATH: BASE}, {PATH: tip}, {PATH: final}, set(told))
    return [j.outcome for j in oracle.edits()] + oracle.files()


@pytest.mark.parametrize("tip", [BASE, CHANGED, MOVED])
def test_what_making_the_edits_again_gives_is_kept(tip):
    wanted = Oracle(Drawn((INSERT, DELETE), {}), {PATH: BASE}, {PATH: tip}, {}, set()).wanted[PATH]
    assert wanted.count(b"our_edit_000") == 1 and b"three = a.z" not in wanted and parses(wanted)
    assert outcomes(tip, wanted, INSERT, DELETE) == ["kept", "kept"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: x.replace(b"    our_edit_000 = 1\n", b""),
        lambda x: x.replace(b"    our_edit_000 = 1\n", b"    our_edit_000 = 1\n" * 2),
        lambda x: x.replace(b"    our_edit_000 = 1\n", b"").replace(b"    four", b"    our_edit_000 = 1\n    four"),
        lambda x: x.replace(b"    our_edit_000 = 1\n    two = a.y\n", b"    two = a.y\n    our_edit_000 = 1\n"),
        lambda x: x.replace(b"    four", b"    three = a.z\n    four"),
        lambda x: x.replace(b"one * two", b"one + two"),
        lambda x: x.replace(b"import os\n", b""),
    ],
    ids=["gone", "twice", "elsewhere", "order", "back", "upstream lost", "unexplained"],
)
def test_each_silent_mistake_is_seen(spoil):
    right = applied(CHANGED, [*INSERT.pieces, *DELETE.pieces])
    assert outcomes(CHANGED, right, INSERT, DELETE) == ["kept", "kept"]
    found = outcomes(CHANGED, spoil(right), INSERT, DELETE)
    assert "wrong" in found or len(found) > 2


def test_where_upstream_wrote_too_a_conflict_may_be_told():
    mine = edit(0, Piece(6, 7, ("    return one + our_edit_000",)), way="change")
    ours = applied(BASE, mine.pieces)
    assert outcomes(CHANGED, ours, mine, told=[(PATH, "first")]) == ["conflict"]
    assert outcomes(CHANGED, ours.replace(b"our_edit_000", b"two"), mine, told=[(PATH, "first")]) == ["wrong"]
    assert (
        outcomes(CHANGED, ours, edit(0, Piece(11, 12, ("    our_edit_000 = 1",))), told=[(PATH, "first")])[0] == "wrong"
    )


def test_a_seed_draws_the_same_edits_and_each_file_still_parses():
    body = b"".join(
        b"def f%d(a):\n    x = a.f%d\n    y = x + %d\n    return g(x, y)\n\n\n" % (n, n, n) for n in range(60)
    )
    base = {
        PATH: body,
        OTHER: body,
        "docs/d.md": b"".join(b"Line %d of it.\n" % n for n in range(90)),
        "s/old.py": body,
    }
    tip = {**base, PATH: body.replace(b"a.f7\n", b"a.g7\n").replace(b"a.f30\n", b"a.g30\n")}
    del tip["s/old.py"]
    one, again, other = (draw(seed, base, tip) for seed in (1, 1, 2))
    assert one == again and one != other
    assert {e.kind for e in one.edits} >= {"deleted", "anywhere"} and one.renames
    for path, data in one.files(base).items():
        assert data != base[path] and (not path.endswith(".py") or parses(data))
