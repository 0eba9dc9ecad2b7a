"""A flag found in a text, with the value that follows it."""

import re
from dataclasses import dataclass

from sync_tools.translate.flagtable import Flag
from sync_tools.translate.text.places import Place

NEW_PREFIX = "--vllm-"
_VALUE = re.compile(
    r"""(?P<gap>[ \t]+|=)(?P<value>(?!--)(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\$\{[^}\n]*\}|\$\([^)\n]*\)"""
    r"""|\{(?:[^{}\n]|\{[^{}\n]*\})*\}|\\"[^"\\\n]*\\"|[^\s"'`\\#|;&<>(){}\[\]]+)+)"""
)


@dataclass(frozen=True)
class Occurrence:
    """A flag in a text; `value` is None where it is only named, or stands in an argument list of its own."""

    flag: Flag
    start: int
    end: int
    value: tuple[int, int] | None
    place: Place
    new_prefix: str = NEW_PREFIX

    @property
    def stop(self) -> int:
        return self.value[1] if self.value else self.end


def occurrence(text: str, flag: Flag, start: int, end: int, place: Place, new_prefix: str = NEW_PREFIX) -> Occurrence:
    """The flag with the value that follows it in its place."""
    value, at = None, end
    while flag.takes != "0" and (match := _VALUE.match(text, at, place.hi)):
        value, at = (value[0] if value else match.start("value"), match.end()), match.end()
        if flag.takes == "1":
            break
    return Occurrence(flag, start, end, value, place, new_prefix)
