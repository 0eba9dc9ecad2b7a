"""A server's command line as a list of strings: `["python3", "-m", "sglang.launch_server", "--tp", "1"]`."""

import re

from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.flagtable import flags, rule_of
from sync_tools.translate.text.pylex import Lexed

_START = re.compile(
    r"""(?P<python>(?P<q>["'])python3?(?P=q)|sys\.executable)\s*,\s*(?P<m>["'])-m(?P=m)\s*,\s*"""
    r"""(?P<module>(?P<n>["'])sglang\.launch_server(?P=n))"""
)
_FLAG = re.compile(r"""(?P<q>["'])--(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?P=q)""")
_KEEP_VALUE = {"rename", "own", "fixed"}


def translate_listed(claims: Claims, lexed: Lexed) -> None:
    """Claim the command lines whose every flag has a counterpart with the same value; the others are left as they are."""
    for start in _START.finditer(claims.text):
        bracket, opened = lexed.bracket(start.start())
        if bracket != "[" or lexed.at(start.start("module")) is None:
            continue
        found = list(_FLAG.finditer(claims.text, start.end(), _closing(lexed.code, opened)))
        names = [_counterpart(f["name"]) for f in found]
        if None not in names:
            _rewrite(claims, start, found, [str(n) for n in names])


def _closing(code: str, opened: int) -> int:
    """Where the bracket that stands at an offset is closed."""
    depth = 0
    for match in re.compile(r"[\[\]]").finditer(code, opened):
        depth += 1 if match[0] == "[" else -1
        if depth == 0:
            return match.start()
    return len(code)


def _counterpart(name: str) -> str | None:
    aliases, flag = rule_of("command").rows(), flags().get(name)
    if name in aliases:
        return aliases[name]
    if flag is None or flag.action not in _KEEP_VALUE or flag.new.startswith("--"):
        return None
    return flag.new or name


def _rewrite(claims: Claims, start: re.Match[str], found: list[re.Match[str]], names: list[str]) -> None:
    rule = rule_of("command")
    program, command, option = str(rule.data["command"]).split()
    quote, said = start["n"], " ".join(start[0].split())
    now = f"{quote}{program}{quote}, {quote}{command}{quote}, {quote}{option}{quote}"
    claims.edit(Edit(*start.span("python"), f"{quote}{program}{quote}", rule.code, before=said, after=now))
    minus = start.start("m")
    claims.edit(Edit(minus, minus + 4, f"{quote}{command}{quote}", rule.code, listed=False))
    claims.edit(Edit(*start.span("module"), f"{quote}{option}{quote}", rule.code, listed=False))
    for flag, name in zip(found, names, strict=True):
        claims.edit(Edit(flag.start("name"), flag.end("name"), name, rule.code))
