"""No name of upstream's engine or package is left in code, strings, flags and comments of touched files.

What `residue.toml` allows is no finding, until the port brings more of it than there is room for.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sync_tools.verify.budget import Account, Use, account, read
from sync_tools.verify.census import census
from sync_tools.verify.leftovers import Leftover, leftovers, names
from sync_tools.verify.model import Context, Finding

FIX = "translate it, protect it in sync.toml, or allow it: vime-sync residue update --reason TEXT"


def residue(context: Context) -> Iterator[Finding]:
    words = names(context.config)
    if words is None:
        return
    found = [left for source in context.files() for left in leftovers(source, words, context.config)]
    found = [left for left in found if left.line not in context.reported.get(left.path, frozenset())]
    told = _account(context, found)
    for left in told.unexplained:
        if not left.foreign:
            yield Finding(left.path, left.line, "residue.name", f"`{left.word}` still has upstream's name", FIX)
    for use in told.uses:
        allowed = f"more than the {use.row.count} of {use.row.name} in {context.config.residue}"
        for left in _new(context, use):
            yield Finding(left.path, left.line, "residue.budget", f"`{left.word}` is {allowed}", FIX)


def _account(context: Context, found: list[Leftover]) -> Account:
    """The leftovers of touched files under their rows, each row with all that it answers for in the tree."""
    budget = read(context.tree, context.config)
    told = account(found, budget)
    rows = [use.row for use in told.uses if use.found]
    if not rows:
        return told
    touched = {source.path for source in context.files()}
    others = census(context.tree, context.config, lambda p: p not in touched and any(r.reaches(p) for r in rows))
    return replace(account([*found, *others], budget), unexplained=told.unexplained)


def _new(context: Context, use: Use) -> Iterator[Leftover]:
    """Of a row that is overrun, what the port brought: the leftovers on lines that the files did not have before it."""
    for path in sorted({left.path for left in use.found} & context.touched) if use.over else ():
        before, after = context.code_before.source(path), context.code.source(path)
        known = Counter(map(_plain, before.lines if before else ()))
        brought = set()
        for number in dict.fromkeys(left.line for left in use.found if left.path == path):
            line = _plain(after.line(number) if after else "")
            if not known[line]:
                brought.add(number)
            known[line] -= bool(known[line])
        yield from (left for left in use.found if left.path == path and left.line in brought)


def _plain(line: str) -> str:
    return " ".join(line.split())
