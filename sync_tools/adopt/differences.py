"""The standing differences of a fork from what it has of upstream, path by path, each told in a line."""

from collections.abc import Sequence
from dataclasses import dataclass

from sync_tools.adopt.expected import Expected
from sync_tools.adopt.fork import ForkFiles
from sync_tools.adopt.lines import compact
from sync_tools.adopt.removed import Removal
from sync_tools.config import Config, Move, Overlay
from sync_tools.ledger.lines import split
from sync_tools.merge.compare import compare
from sync_tools.merge.diff import hunks
from sync_tools.plural import counted
from sync_tools.policy import matches
from sync_tools.tree import Blob

STOOD = "stood so when the fork was adopted"
NAMED = 4
ALIKE = 0.8


@dataclass(frozen=True)
class Differences:
    """`overlays` are the rows that sync.toml lacks, `moves` upstream's files that the fork has under another path."""

    overlays: tuple[Overlay, ...]
    moves: tuple[Move, ...]


def differences(
    wanted: Sequence[Expected], files: ForkFiles, removals: dict[str, Removal], config: Config, who: str
) -> Differences:
    """Compare; what an overlay of sync.toml names already is told by it."""
    overlays, moves = [], []
    for each in sorted(wanted, key=lambda e: e.path):
        place = each.path
        if files.file(place).blob is None and (moved := _moved(each, files, removals)):
            moves.append(Move(old=each.upstream, new=moved))
            place = moved
        why = difference(files.file(place).blob, each, place, removals.get(place))
        if why and not any(matches(o.path, place) for o in config.overlays):
            overlays.append(Overlay(path=escaped(place), why=f"{STOOD}: {why}", who=who))
    return Differences(tuple(overlays), tuple(moves))


def escaped(path: str) -> str:
    """A path as a glob that names it alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def _moved(each: Expected, files: ForkFiles, removals: dict[str, Removal]) -> str | None:
    """Where the fork has the file now: by its history, else by nearly all of its lines."""
    place, seen = each.path, set()
    while place in removals and (to := removals[place].moved) and to not in seen:
        seen.add(to)
        if files.file(to).blob is not None:
            return None if to in files.upstreams else to
        place = to
    found = files.moved(each.path, [compact(line) for line in split(each.blobs[0].data)])
    return found.path if found and _alike(found.lines, each) else None


def _alike(lines: Sequence[bytes], each: Expected) -> bool:
    wanted = {compact(line) for line in split(each.blobs[0].data)} - {b""}
    return len(wanted & set(lines)) >= ALIKE * len(wanted)


def difference(ours: Blob | None, each: Expected, path: str, removal: Removal | None = None) -> str:
    """How the fork's file differs, in a few words; empty where it does not."""
    if ours is None:
        return f"the fork removed it in {removal.commit[:12]}" if removal else "the fork does not have it"
    if any(ours.data == blob.data for blob in each.blobs):
        mode = each.blobs[0].mode
        return "" if ours.mode == mode else f"its mode is {ours.mode:o}, upstream's {mode:o}"
    return told(ours.data, each.blobs[0].data, path)


def told(ours: bytes, theirs: bytes, path: str) -> str:
    """How a file differs, by definition where it has some, else in lines."""
    found: dict[str, list[str]] = {}
    for difference in compare(ours, theirs, path):
        found.setdefault(difference.state, []).append(difference.symbol)
    if b"\0" in ours[:8192] or b"\0" in theirs[:8192]:
        return "its bytes differ"
    if found.get("differs") == [path] or not path.endswith((".py", ".pyi")):
        return _in_lines(ours, theirs)
    parts = []
    for state, word in (("differs", "differ"), ("extra", "extra"), ("missing", "missing")):
        if names := found.get(state):
            verb = f"{word}s" if state == "differs" and len(names) == 1 else word
            parts.append(f"{counted(len(names), 'definition')} {verb} ({_list(names)})")
    return ", ".join(parts) or "laid out otherwise"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _in_lines(ours: bytes, theirs: bytes) -> str:
    found = hunks(split(theirs), split(ours))
    extra, missing = sum(h.b1 - h.b0 for h in found), sum(h.a1 - h.a0 for h in found)
    return f"{counted(extra, 'line')} of the fork's, {missing} of upstream's not" if found else "line endings differ"
