"""Reads of parsed arguments whose flag is gone: renamed with everything else, and reported; assertions of them go."""

import re

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.flagtable import flags
from sync_tools.translate.text.pylex import Lexed

_READ = re.compile(
    r"""\bargs\.sglang_(?P<name>\w+)(?!\w|\s*=(?!=))|\b[gh]etattr\(\s*(?:\w+\.)*args,\s*["']sglang_(?P<quoted>\w+)["']"""
)
GONE = {"drop", "site", "json", "switch"}


def drop_assertions(claims: Claims) -> None:
    """Take out the `if`s that only assert a switch that the fork's engine has not."""
    for rule in rules.table("arguments"):
        for name in rule.words("asserted"):
            pattern = (
                rf"(?m)^(?P<lead>[ \t]+)if [^\n]*:\n(?P=lead)[ \t]+assert args\.{name}[ \t]*\n"
                r"(?:[ \t]*\n(?=(?P=lead)\S))?(?!(?P=lead)(?:[ \t]|el(?:se|if)\b))"
            )
            for match in re.finditer(pattern, claims.text):
                at, what = claims.text.index("assert", match.start()), f"assert args.{name}"
                claims.edit(Edit(*match.span(), "", rule.code, before=what, after="", at=at))


def report_gone_arguments(claims: Claims, lexed: Lexed) -> None:
    """Report `args.sglang_x` where no argument of the fork has a value of that meaning."""
    derived = {name for rule in rules.table("arguments") if rule.data.get("derived") for name in rule.rows()}
    for match in _READ.finditer(claims.text):
        name = match["name"] or match["quoted"]
        flag = flags().get(name.replace("_", "-"))
        if flag is None or flag.action not in GONE or f"sglang_{name}" in derived or not claims.free(*match.span()):
            continue
        if lexed.at(match.start()) is None:
            claims.site(*match.span(), f"args.sglang_{name}", "no argument of the engine has this value")
