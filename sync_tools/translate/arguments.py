"""Reads of parsed arguments whose flag is gone: renamed with everything else, and reported."""

import re

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims
from sync_tools.translate.flagtable import flags
from sync_tools.translate.text.pylex import Lexed

_READ = re.compile(
    r"""\bargs\.sglang_(?P<name>\w+)(?!\w|\s*=(?!=))|\b[gh]etattr\(\s*(?:\w+\.)*args,\s*["']sglang_(?P<quoted>\w+)["']"""
)
GONE = {"drop", "site", "json", "switch"}


def report_gone_arguments(claims: Claims, lexed: Lexed) -> None:
    """Report `args.sglang_x` where no argument of the fork has a value of that meaning."""
    derived = {name for rule in rules.table("arguments") if rule.data.get("derived") for name in rule.rows()}
    for match in _READ.finditer(claims.text):
        flag = flags().get((match["name"] or match["quoted"]).replace("_", "-"))
        region = lexed.at(match.start())
        if (
            flag
            and flag.action in GONE
            and region is None
            and f"sglang_{match['name'] or match['quoted']}" not in derived
        ):
            what = f"args.sglang_{match['name'] or match['quoted']}"
            claims.site(match.start(), match.end(), what, "no argument of the engine has this value")
