"""From the lines of a text that a first pass has rewritten back to those of the text that went in."""

from bisect import bisect_right
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from sync_tools.translate.result import Application, Site


@dataclass(frozen=True)
class LineMap:
    """Line of the rewritten text -> line of the original.

    A line that both have maps to itself. A rewritten line maps to the line of the original in the same place of the changed
    stretch, or to its last; an inserted one to the line it was put before.
    """

    blocks: tuple[tuple[int, int, int, int], ...]
    before: tuple[str, ...]

    @staticmethod
    def between(before: str, after: str) -> "LineMap":
        old, new = before.split("\n"), after.split("\n")
        head = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
        matcher = SequenceMatcher(None, old[head:], new[head:], autojunk=False)
        codes = [(i + head, j + head, k + head, m + head) for _, i, j, k, m in matcher.get_opcodes()]
        return LineMap(((0, head, 0, head), *codes), tuple(old))

    def line(self, number: int) -> int:
        """The 1-based line of the original for a 1-based line of the rewritten text."""
        at = number - 1
        index = bisect_right([b[2] for b in self.blocks], at) - 1
        old_start, old_end, new_start, _ = self.blocks[max(index, 0)]
        last = max(old_start, old_end - 1)
        return min(min(old_start + at - new_start, last) + 1, len(self.before))

    def application(self, a: Application) -> Application:
        line = self.line(a.line)
        column = self.before[line - 1].find(a.before.split("\n")[0]) + 1
        return replace(a, line=line, column=column or min(a.column, len(self.before[line - 1]) + 1))

    def site(self, s: Site) -> Site:
        line = self.line(s.line)
        column = self.before[line - 1].find(s.what.split("\n")[0][:40]) + 1
        return replace(
            s,
            line=line,
            column=column or min(s.column, len(self.before[line - 1]) + 1),
            end_line=max(line, self.line(s.end_line)),
        )
