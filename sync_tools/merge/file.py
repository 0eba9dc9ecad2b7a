"""Three-way merge of one file: fork's (ours), upstream's after the change (theirs), upstream's before it (base)."""

from sync_tools.merge.lines import split
from sync_tools.merge.markers import LABELS, Clash, Labels, render
from sync_tools.merge.result import Merged
from sync_tools.merge.textual import regions_of_text, segment, undisputed


def merge_file(path: str, base: bytes | None, ours: bytes, theirs: bytes, labels: Labels = LABELS) -> Merged:
    """Merges `theirs` against `base` onto `ours`; a `base` of None says that both sides added the file.

    No line that one side alone added, or that both kept, is missing from a merge without conflicts, and a side that did
    not change yields to the other. Python files are merged by definition, others by line.
    """
    if ours == theirs or theirs == base:
        return Merged(ours, ours)
    if ours == base:
        return Merged(theirs, theirs)
    b, o, t = split(base or b""), split(ours), split(theirs)
    regions = regions_of_text(b, o, t)
    segments = [part for region in regions for part in segment(region, b, o, t, path)]
    conflicts = tuple(part.conflict for part in segments if isinstance(part, Clash))
    return Merged(undisputed(regions, o, t), render(segments, labels), conflicts)
