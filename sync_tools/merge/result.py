"""What a three-way merge of one file gives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Conflict:
    """Both sides changed it. Ranges are 0-based half-open line ranges of base, ours and theirs; `symbol` is the
    dotted name of the definition, `<imports>`, `<module>`, or the path's name for a text file."""

    symbol: str
    base: tuple[int, int]
    ours: tuple[int, int]
    theirs: tuple[int, int]


@dataclass(frozen=True)
class Merged:
    """`mechanical` holds only changes to definitions that ours had as base had them; `final` everything, with diff3
    markers where there are conflicts. Both equal ours when theirs equals base."""

    mechanical: bytes
    final: bytes
    conflicts: tuple[Conflict, ...] = ()
