"""Two texts side by side, only where they differ by more than the words that the fork renames."""

from difflib import SequenceMatcher

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sync_tools.demo.forks import respelled


def side_by_side(upstream: str, fork: str, at_most: int = 6) -> Table | Text:
    """A table of the differing passages with their line numbers, the first `at_most` of them."""
    old, new = upstream.splitlines(), fork.splitlines()
    same_words = [respelled(line) for line in old]
    table = Table("upstream (SGLang)", "fork (vLLM)", expand=True, show_lines=True)
    passages = [op for op in SequenceMatcher(None, same_words, new, autojunk=False).get_opcodes() if op[0] != "equal"]
    if not passages:
        return Text("no difference but for the names")
    for _, a, b, c, d in passages[:at_most]:
        table.add_row(_code(old, a, b), _code(new, c, d))
    if len(passages) > at_most:
        table.caption = f"and {len(passages) - at_most} more"
    return table


def _code(lines: list[str], start: int, end: int) -> Group:
    code = Text("\n".join(lines[start:end]), overflow="fold")  # uncoloured: it must be read on light and on dark
    return Group(Text(f"line {start + 1}", style="dim"), code if end > start else Text("(nothing)", style="dim"))
