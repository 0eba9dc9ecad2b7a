"""How a budget of leftovers follows the tree: down by itself, up only where somebody gives a reason."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from sync_tools.policy import literal
from sync_tools.verify.budget import Account, Allowed, Use
from sync_tools.verify.leftovers import Leftover

HEAD = """Leftovers of upstream's names that may stand, and why. `vime-sync residue check` fails when there are more;
`vime-sync residue update` lowers the numbers, and raises one only with --reason."""

Reason = Callable[[Leftover], str | None]
"""Why a leftover stands, None where nobody said."""


@dataclass(frozen=True)
class Change:
    """A row of the budget before and after: None before one that is new, None after one that is gone."""

    before: Allowed | None
    after: Allowed | None

    @property
    def what(self) -> Literal["added", "removed", "raised", "lowered", "renewed", "kept"]:
        if self.before is None or self.after is None:
            return "added" if self.after else "removed"
        if self.before == self.after:
            return "kept"
        counts = self.before.count, self.after.count
        return "raised" if counts[1] > counts[0] else "lowered" if counts[1] < counts[0] else "renewed"


@dataclass(frozen=True)
class Grant:
    """A reason given for leftovers that the budget has no room for; by whom, until when."""

    reason: Reason = lambda left: None
    who: str = ""
    until: str | None = None


def follow(told: Account, grant: Grant) -> tuple[Change, ...]:
    """What becomes of each row, in order, and then the new ones."""
    return tuple(_row(use, grant) for use in told.uses) + tuple(_new(told, grant))


def _row(use: Use, grant: Grant) -> Change:
    row = use.row
    if not use.found:
        return Change(row, None)
    why = [grant.reason(left) for left in use.found] if use.over else []
    if why and all(why):
        given = [row.reason, *map(str, why)] if not use.ran_out else map(str, why)
        reason = "; ".join(dict.fromkeys(given))
        until = grant.until or (None if use.ran_out else row.until)
        change = {"count": len(use.found), "reason": reason, "who": grant.who, "until": until}
        return Change(row, row.model_copy(update=change))
    return Change(row, row.model_copy(update={"count": min(row.count, len(use.found))}))


def _new(told: Account, grant: Grant) -> Iterator[Change]:
    """A row for each file and word in any casing; the longer word first, since it may hold the shorter one."""
    explained = [(left, why) for left in told.unexplained if (why := grant.reason(left))]
    keyed = sorted((left.path, -len(left.word), left.word.lower(), left.word, why) for left, why in explained)
    for (path, *_), each in groupby(keyed, key=lambda item: item[:3]):
        words, whys = zip(*(item[3:] for item in each), strict=True)
        row = Allowed(path=literal(path), word=words[0], count=len(whys), reason="; ".join(dict.fromkeys(whys)))
        yield Change(None, row.model_copy(update={"who": grant.who, "until": grant.until}))


def written(content: str | None, changes: tuple[Change, ...]) -> str:
    """The text of the budget after the changes; comments and the order of rows stay."""
    import tomlkit

    document = tomlkit.parse(content) if content else _empty()
    old = document.get("leftover")
    rows = old if old is not None else tomlkit.aot()
    gone = [n for n, change in enumerate(changes) if change.before and change.after is None]
    for n, change in enumerate(changes):
        if change.before and change.after and change.before != change.after:
            _set(rows[n], change.after.model_dump(exclude_none=True), change.before.model_dump(exclude_none=True))
    for n in reversed(gone):
        del rows[n]
    for change in changes:
        if change.before is None and change.after:
            rows.append(_table(change.after.model_dump(exclude_none=True)))
    if old is None and len(rows):
        document.add("leftover", rows)
    if old is not None and not len(rows):
        document.remove("leftover")
    return tomlkit.dumps(document)


def _empty() -> Any:
    import tomlkit

    document = tomlkit.document()
    for line in HEAD.split("\n"):
        document.add(tomlkit.comment(line))
    document.add("schema", 1)
    document.add(tomlkit.nl())
    return document


def _table(values: Mapping[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.table()
    for key, value in values.items():
        if value != "":
            table.add(key, value)
    return table


def _set(table: Any, after: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    for key in before.keys() - after.keys():
        del table[key]
    for key, value in after.items():
        if before.get(key) != value:
            table[key] = value
