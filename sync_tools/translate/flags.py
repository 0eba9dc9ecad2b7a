"""Server flags with their values: `--sglang-x 1` in shell, in Python strings and argument lists, in templates and prose.

Each flag is decided by its row; folding flags that stand together become one. A dropped flag takes its value, its line or
its string with it, so that what is left is still a valid command, array, concatenation or list (`drops.py`).
"""

import re
from collections.abc import Iterator

from sync_tools.translate.commands import bare_flags
from sync_tools.translate.drops import Drop, remove
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.flagtable import Flag, deepep, flags, rule_of, speculative, to_json, transfer
from sync_tools.translate.kinds import Kind
from sync_tools.translate.occurrences import Occurrence, occurrence
from sync_tools.translate.text.places import Place, places
from sync_tools.translate.text.pylex import Lexed

_FLAG = re.compile(r"(?<![\w.])--sglang-(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?![\w{<*-])")
_DEFINED = re.compile(r"""add_argument\(\s*["']$""")
_GAP = re.compile(r"(?:[\s\"'\\#]|(?<=[\s\"'])[fFrRbB](?=[\"']))*")


def translate_flags(claims: Claims, kind: Kind, lexed: Lexed | None) -> None:
    """Add the edits of all flags of the text to `claims`."""
    found = sorted([*_prefixed(claims.text, kind, lexed), *bare_flags(claims, kind, lexed)], key=lambda o: o.start)
    drops: list[Drop] = []
    for group in _groups(claims.text, [o for o in found if claims.free(o.start, o.end)]):
        drops += _decide(claims, group, lexed)
    remove(claims, drops, lexed)
    if lexed is not None:
        _plain_strings(claims, lexed)


def _plain_strings(claims: Claims, lexed: Lexed) -> None:
    """A formatted string that lost its last replacement field is a plain one."""
    fields = [e for e in claims.edits if "{" in claims.text[e.start : e.end]]
    for literal in {r for e in fields if (r := lexed.at(e.start)) and r.formatted and not r.long}:
        if "{" not in claims.after(*literal.inner):
            at = literal.start + literal.prefix.lower().index("f")
            claims.edit(Edit(at, at + 1, "", "", listed=False))


def _prefixed(text: str, kind: Kind, lexed: Lexed | None) -> Iterator[Occurrence]:
    place_at = places(text, kind, lexed)
    for match in _FLAG.finditer(text):
        if place := place_at(match.start()):
            flag = flags().get(match["name"]) or Flag(match["name"], "unknown", rule_of("unknown").code, takes="0")
            yield occurrence(text, flag, match.start(), match.end(), place)


def _groups(text: str, found: list[Occurrence]) -> Iterator[list[Occurrence]]:
    """Folding flags of one kind that stand together, as one group; every other flag alone."""
    group: list[Occurrence] = []
    for o in found:
        joins = group and o.flag.fold and o.flag.fold == group[-1].flag.fold and o.value and group[-1].value
        gap = _GAP.match(text, group[-1].stop, o.start) if joins else None
        if gap and gap.end() == o.start and o.flag.name not in {g.flag.name for g in group}:
            group.append(o)
            continue
        if group:
            yield group
        group = [o]
    if group:
        yield group


def _decide(claims: Claims, group: list[Occurrence], lexed: Lexed | None) -> list[Drop]:
    """The edits of one flag or one folding group; what is to be removed comes back."""
    o = group[0]
    value = _value(claims.text, o)
    flag = o.flag
    new = o.new_prefix + flag.new
    if _DEFINED.search(claims.text, max(0, o.start - 40), o.start) and flag.code != rule_of("own").code:
        # A parser's definition is the project's own option, whatever the engine calls a like one.
        return _replace(claims, o, o.new_prefix + flag.name)
    match flag.action:
        case "fold":
            return _fold(claims, group)
        case "rename":
            return _replace(claims, o, flag.new if flag.new.startswith("--") else new)
        case "own":
            return _replace(claims, o, o.new_prefix + flag.name)
        case "unknown":
            region = lexed.at(o.start) if lexed else None
            if not (region and region.comment):
                why = "the table of flags does not know it; renamed by its prefix"
                claims.site(o.start, o.stop, claims.text[o.start : o.end], why)
            return _replace(claims, o, o.new_prefix + flag.name)
        case "fixed":
            return _replace(claims, o, new)
        case "site":
            claims.site(o.start, o.stop, claims.text[o.start : o.stop], flag.why)
            claims.keep(o.start, o.end)
            return []
        case "drop":
            return _drop(claims, o)
        case "map":
            return _map(claims, o, new, value)
        case "switch":
            if value is not None and value in flag.values:
                return _drop(claims, o)
            return _replace(claims, o, new, through_value=True)
        case _:
            return _json(claims, o, value)


def _value(text: str, o: Occurrence) -> str | None:
    return text[o.value[0] : o.value[1]].strip("\"'") if o.value else None


def _replace(claims: Claims, o: Occurrence, new: str, *, through_value: bool = False) -> list[Drop]:
    stop = o.stop if through_value else o.end
    claims.edit(Edit(o.start, stop, new, o.flag.code))
    return []


def _drop(claims: Claims, o: Occurrence) -> list[Drop]:
    return [Drop(o.start, o.stop, o.flag.code, o.place, o.flag.takes)]


def _map(claims: Claims, o: Occurrence, new: str, value: str | None) -> list[Drop]:
    """A flag whose values have other names; one that is not known is kept and reported."""
    if value is None or value not in o.flag.values:
        if value is not None:
            claims.site(o.start, o.stop, claims.text[o.start : o.stop], "the value has no known counterpart")
        return _replace(claims, o, new)
    mapped = o.flag.values[value]
    return _replace(claims, o, f"{new} {mapped}", through_value=True) if mapped else _drop(claims, o)


def _json(claims: Claims, o: Occurrence, value: str | None) -> list[Drop]:
    if "VALUE" in o.flag.new and value is None:
        claims.edit(Edit(o.start, o.end, o.flag.new.split(" {")[0].split()[-1], o.flag.code))
        return []
    flag, _, config = o.flag.new.replace("--vllm-", o.new_prefix).partition(" {")
    config = ("{" + config).replace("VALUE", value or "")
    claims.edit(Edit(o.start, o.stop, f"{flag} {quoted(config, o.place)}", o.flag.code))
    return []


def _fold(claims: Claims, group: list[Occurrence]) -> list[Drop]:
    """Folding flags that stand together become one flag at the place of the first; the others go."""
    first, text = group[0], claims.text
    values = {o.flag.name: _value(text, o) or "" for o in group if o.value}
    new = first.new_prefix + first.flag.new
    # A replacement field among the values must stay in a formatted string.
    anchor = next((o for o in group if "{" in values.get(o.flag.name, "") and o.place.literal), first)
    if not values and first.flag.name in ("speculative-algorithm", "moe-a2a-backend"):
        return _replace(claims, first, new)
    if first.flag.fold == "deepep":
        backend = deepep(values)
        folded = f"{new} {backend}" if backend else None
        why = None if values else "folded into the all-to-all backend"
    else:
        config = transfer(values) if first.flag.fold == "transfer" else speculative(values)
        folded = None if isinstance(config, str) else f"{new} {quoted(to_json(config), anchor.place)}"
        why = config if isinstance(config, str) else None
    if why or (len({o.place for o in group}) > 1 and any(o.place.style == "prose" for o in group)):
        for o in group:
            claims.site(o.start, o.stop, text[o.start : o.stop], why or "the flags are named apart")
            claims.keep(o.start, o.stop)
        return []
    if folded is None:
        return [d for o in group for d in _drop(claims, o)]
    if len({o.place for o in group}) == 1:
        claims.edit(Edit(first.start, group[-1].stop, folded, first.flag.code, text[first.start : first.stop], folded))
        for o in group[1:]:
            end = group[-1].stop
            claims.edit(Edit(end, end, "", o.flag.code, text[o.start : o.stop], "", o.start))
        return []
    claims.edit(Edit(anchor.start, anchor.stop, folded, first.flag.code))
    return [d for o in group if o is not anchor for d in _drop(claims, o)]


def quoted(config: str, place: Place) -> str:
    """JSON as one word of a command line, as it must be written in its place."""
    variable = "$" in config
    word = '"' + config.replace('"', '\\"') + '"' if variable else f"'{config}'"
    literal = place.literal
    if literal is None:
        return word
    if literal.formatted:
        # The JSON's own braces are doubled; those of a replacement field inside it stay single.
        first, last = word.index("{"), word.rindex("}")
        word = f"{word[:first]}{{{word[first : last + 1]}}}{word[last + 1 :]}"
    if "r" in literal.prefix.lower():
        return word
    return word.replace("\\", "\\\\").replace(literal.quote, "\\" + literal.quote)
