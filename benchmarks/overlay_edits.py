"""A hundred edits of a fork, drawn by a seed where merges are hard, ten renamed files among them; and ten functions
under other names."""

import difflib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchmarks.overlay_file import File, Piece, file
from benchmarks.overlay_ways import rename_function, ways

Files = Mapping[str, bytes]
NEAR, MOVED, DELETED, RENAMED, ANYWHERE, FUNCTIONS = 40, 20, 10, 10, 20, 10
SUFFIXES = {".py", ".sh", ".yml", ".yaml", ".md", ".j2", "Dockerfile"}
GAP = 3
"""Lines of the import that lie between two edits: each can be judged alone."""
PATIENCE = 300
"""Places that are tried for the way whose turn it is."""


@dataclass(frozen=True)
class Edit:
    """An edit of a file of the import: `kind` is why it was put there, `way` what it does, `symbol` the function it is in."""

    number: int
    kind: str
    way: str
    path: str
    pieces: tuple[Piece, ...]
    symbol: str

    @property
    def mark(self) -> str:
        return mark(self.number)

    def __str__(self) -> str:
        return f"{self.mark} {self.kind}, {self.way}: {self.path}:{self.pieces[0].start + 1}"


@dataclass(frozen=True)
class Drawn:
    edits: tuple[Edit, ...]
    renames: Mapping[str, str]

    def files(self, base: Files) -> dict[str, bytes]:
        """The edited files, at the paths of the import."""
        paths = dict.fromkeys(e.path for e in self.edits)
        return {
            path: applied(base[path], [p for e in self.edits if e.path == path for p in e.pieces]) for path in paths
        }


def mark(number: int) -> str:
    return f"our_edit_{number:03}"


def applied(data: bytes, pieces: Sequence[Piece]) -> bytes:
    lines = data.splitlines(keepends=True)
    for piece in sorted(pieces, key=lambda p: (p.start, p.stop), reverse=True):
        lines[piece.start : piece.stop] = [f"{line}\n".encode() for line in piece.lines]
    return b"".join(lines)


def draw(seed: int, base: Files, tip: Files) -> Drawn:
    """The edits for an import `base` whose upstream goes on to `tip` (both as the fork has them)."""
    chance = random.Random(seed)
    fit = [p for p in sorted(base) if p.count("/") and _fit(p, base[p])]
    renames = _renames(chance, base, tip, fit)
    rest = [p for p in fit if p not in renames]
    near = [(p, at) for p in rest if p in tip for at in _near(base[p], tip[p])]
    moved = [place for p in rest for place in _moved(p, base, tip)]
    everywhere = [(p, at) for p in rest for at in range(base[p].count(b"\n"))]
    pools = (
        ("near", NEAR, near),
        ("moved", MOVED, moved),
        ("deleted", DELETED, [place for place in everywhere if place[0] not in tip]),
        ("anywhere", ANYWHERE, everywhere),
        ("function", FUNCTIONS, [place for place in [*near, *moved] if place[0].endswith(".py")]),
    )
    hand = _Hand(chance, base)
    for kind, wanted, pool in pools:
        hand.take(kind, wanted, pool)
    return Drawn(tuple(hand.edits), renames)


class _Hand:
    """Edits as they are drawn: no two beside one another, the ways by turns, so that each is seen."""

    def __init__(self, chance: random.Random, base: Files) -> None:
        self._chance, self._base = chance, base
        self.edits: list[Edit] = []
        self._used: dict[str, set[int]] = {}
        self._turns: dict[str, Counter[str]] = {}

    def take(self, kind: str, wanted: int, pool: list[tuple[str, int]]) -> None:
        """A third of the places lie in files that are not Python, their kinds by turns, where the pool has such."""
        self._chance.shuffle(pool)
        python = [place for place in pool if place[0].endswith(".py")]
        kinds: dict[str, list[tuple[str, int]]] = {}
        for place in pool:
            if not place[0].endswith(".py"):
                kinds.setdefault(file(place[0], self._base[place[0]]).kind, []).append(place)
        share = wanted // 3 if python else wanted
        left = share
        for n, places in enumerate(sorted(kinds.values(), key=len)):
            left -= self._from(kind, -(-left // (len(kinds) - n)), places)
        self._from(kind, wanted - (share - left), python)

    def _from(self, kind: str, wanted: int, pool: Sequence[tuple[str, int]]) -> int:
        """Edits at places of the pool: first such as the way fits whose turn it is, then any."""
        taken = 0
        for path, at, turn in [*((*place, True) for place in pool[:PATIENCE]), *((*place, False) for place in pool)]:
            if taken == wanted:
                break
            taken += self._edit(kind, file(path, self._base[path]), at, turn)
        return taken

    def _edit(self, kind: str, f: File, at: int, in_turn: bool) -> bool:
        known = {"rename function": rename_function} if kind == "function" else ways(f)
        number = len(self.edits)
        turns = self._turns.setdefault(f.kind, Counter())
        for name in sorted(known, key=lambda name: turns[name])[: 1 if in_turn else None]:
            pieces = known[name](f, at, mark(number))
            if pieces and self._apart(f.path, pieces):
                turns[name] += 1
                self.edits.append(Edit(number, kind, name, f.path, pieces, f.symbol(pieces[0].start)))
                return True
        return False

    def _apart(self, path: str, pieces: Sequence[Piece]) -> bool:
        lines = {n for p in pieces for n in range(p.start - GAP, p.stop + GAP)}
        used = self._used.setdefault(path, set())
        if used & lines:
            return False
        used |= {n for p in pieces for n in range(p.start, p.stop + 1)}
        return True


def _fit(path: str, data: bytes) -> bool:
    """Text in UTF-8 with the newlines that the ways write, of a kind that they know."""
    known = PurePosixPath(path).suffix in SUFFIXES or PurePosixPath(path).name.startswith("Dockerfile")
    if not known or (path.startswith(".github/workflows/") and not path.endswith(".j2")):
        return False
    try:
        text = data.decode("utf-8")
        if path.endswith(".py"):
            _ = file(path, data).tree
    except (UnicodeDecodeError, SyntaxError, ValueError):
        return False
    return "\0" not in text and text.endswith("\n") and len(text.splitlines()) == text.count("\n")


def _renames(chance: random.Random, base: Files, tip: Files, fit: Sequence[str]) -> dict[str, str]:
    """Files that move to another name in their folder, first of all such as upstream edits."""
    plain = [p for p in fit if p.endswith((".py", ".sh")) and not p.endswith("__init__.py") and p in tip]
    edited = [p for p in plain if base[p] != tip[p]]
    still = [p for p in plain if base[p] == tip[p]]
    chance.shuffle(edited)
    chance.shuffle(still)
    chosen = [*edited[: RENAMED - 3], *still[:3]]
    return {p: str(PurePosixPath(p).with_name(f"our_{PurePosixPath(p).name}")) for p in chosen}


def _near(before: bytes, after: bytes) -> Iterator[int]:
    """Lines at most three from one that upstream changes."""
    a, b = before.splitlines(), after.splitlines()
    if a == b:
        return
    found: set[int] = set()
    for tag, first, last, _, _ in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            found |= {at for at in range(first - 2, last + 4) if 0 <= at < len(a)}
    yield from sorted(found)


def _moved(path: str, base: Files, tip: Files) -> Iterator[tuple[str, int]]:
    """The lines of functions that upstream puts elsewhere in their file, or into another file."""
    if not path.endswith(".py"):
        return
    here = file(path, base[path]).functions
    there = file(path, tip[path]).functions if path in tip else {}
    if not set(here) - set(there) and list(here) == [n for n in there if n in here]:
        return
    common = [n for n in here if n in there]
    order = {n: i for i, n in enumerate(n for n in there if n in here)}
    stay = difflib.SequenceMatcher(None, common, sorted(common, key=order.__getitem__), autojunk=False)
    still = {common[i] for block in stay.get_matching_blocks() for i in range(block.a, block.a + block.size)}
    for name, lines in here.items():
        gone = name not in there and homes(name, path, base, tip)
        if gone or (name in there and name not in still):
            yield from ((path, at) for at in lines)


def homes(name: str, path: str, base: Files, tip: Files) -> list[str]:
    """The other files to which upstream may have moved a function: those that have one of its name, and had none."""
    word = name.rpartition(".")[2].encode()
    changed = [p for p, data in tip.items() if p.endswith(".py") and p != path and data != base.get(p) and word in data]
    return [
        p
        for p in changed
        if name in file(p, tip[p]).functions and (p not in base or name not in file(p, base[p]).functions)
    ]
