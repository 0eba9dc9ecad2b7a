"""Flags without upstream's prefix: on the command line of a server, and in prose that names the engine's own."""

import re
from collections.abc import Iterator

from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.flagtable import Flag, flags, rule_of
from sync_tools.translate.kinds import Kind
from sync_tools.translate.occurrences import Occurrence, occurrence
from sync_tools.translate.text.places import Place, PlaceAt, places
from sync_tools.translate.text.pylex import Lexed

_COMMAND = re.compile(r"\bpython3?[ \t]+-m[ \t]+sglang\.launch_server\b")
_BARE = re.compile(r"(?<![\w-])--(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?![\w-])")
_CONTINUED = re.compile(r"[^\n]*?\\\r?\n")
_ENGINE = re.compile(r"(?i)sglang")


def bare_flags(claims: Claims, kind: Kind, lexed: Lexed | None) -> Iterator[Occurrence]:
    """The flags that a server's command line or a sentence about the engine holds."""
    place_at = places(claims.text, kind, lexed)
    yield from _of_commands(claims, place_at)
    if kind in ("markdown", "python"):
        yield from _of_prose(claims, place_at)


def _of_commands(claims: Claims, place_at: PlaceAt) -> Iterator[Occurrence]:
    text, rule = claims.text, rule_of("command")
    aliases = rule.rows()
    for command in _COMMAND.finditer(text):
        place = place_at(command.start())
        if place is None:
            continue
        claims.edit(Edit(command.start(), command.end(), str(rule.data["command"]), rule.code))
        end = _end_of_command(text, command.end(), place)
        for match in _BARE.finditer(text, command.end(), end):
            name = match["name"]
            flag = Flag(name, "rename", rule.code, aliases[name]) if name in aliases else flags().get(name)
            here = place if place.literal else Place(*_line(text, match.start()), "line")
            if flag is None:
                flag = Flag(name, "unknown", rule_of("unknown").code, takes="0")
            yield occurrence(text, flag, match.start(), match.end(), here, "--")


def _end_of_command(text: str, at: int, place: Place) -> int:
    if place.literal:
        return place.hi
    while match := _CONTINUED.match(text, at):
        at = match.end()
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _line(text: str, offset: int) -> tuple[int, int]:
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    return text.rfind("\n", 0, offset) + 1, end - 1 if text[:end].endswith("\r") else end


def _of_prose(claims: Claims, place_at: PlaceAt) -> Iterator[Occurrence]:
    text, rule = claims.text, rule_of("prose")
    names = set(rule.words("words"))
    for match in _BARE.finditer(text):
        if match["name"] not in names:
            continue
        place = place_at(match.start())
        if place and place.style == "prose" and _ENGINE.search(text, place.lo, place.hi):
            row = flags()[match["name"]]
            yield Occurrence(
                Flag(row.name, "rename", rule.code, row.new), match.start(), match.end(), None, place, "--"
            )
