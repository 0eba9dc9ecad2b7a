"""Three-way merge of one file: fork's (ours), upstream's after the change (theirs), upstream's before it (base)."""

from collections.abc import Sequence

from sync_tools.merge.lines import split
from sync_tools.merge.markers import LABELS, Clash, Labels, Segment, render
from sync_tools.merge.resolve import Sides
from sync_tools.merge.result import Merged
from sync_tools.merge.source import Parser
from sync_tools.merge.structural import PythonMerge
from sync_tools.merge.textual import regions_of_text, segment, undisputed


def merge_file(path: str, base: bytes | None, ours: bytes, theirs: bytes, labels: Labels = LABELS) -> Merged:
    """Merges `theirs` against `base` onto `ours`; a `base` of None says that both sides added the file.

    No line that one side alone added, or that both kept, is missing from a merge without conflicts, and a side that did
    not change yields to the other. Python files are merged by definition, others by line; of the others, those changes
    are mechanical that an unchanged line parts from every change of ours.
    """
    if ours == theirs or theirs == base:
        return Merged(ours, ours)
    if ours == base:
        return Merged(theirs, theirs)
    b, o, t = split(base or b""), split(ours), split(theirs)
    if path.endswith((".py", ".pyi")):
        merge = _python(b, o, t)
        if merge is not None:
            final = merge.final()
            return _merged(merge.mechanical(final), final, labels)
    regions = regions_of_text(b, o, t)
    final = [part for region in regions for part in segment(region, b, o, t, path)]
    return _merged(undisputed(regions, o, t), final, labels)


def _python(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> PythonMerge | None:
    parser = Parser()
    b, o, t = (parser.source(lines) for lines in (base, ours, theirs))
    return PythonMerge(parser, Sides(b, o, t)) if b and o and t else None


def _merged(mechanical: bytes, final: list[Segment], labels: Labels) -> Merged:
    return Merged(mechanical, render(final, labels), tuple(p.conflict for p in final if isinstance(p, Clash)))
