"""Words that tell the engine's seam in a line, taken from the rule tables: a quick look, where translating would be slow."""

import re
from collections.abc import Iterator
from functools import cache

from sync_tools.translate import rules

TABLES = ("request", "sampling", "endpoints", "headers")
ANSWER = ("meta_info", "output_token_logprobs", "output_ids", "routed_experts")
TELLING = re.compile(r"[_/]")
"""A key such as `text` or `stop` tells nothing; one of several words does."""


@cache
def seam_words(engine: str) -> re.Pattern[bytes]:
    """Matches a line that speaks to an engine of this name, or reads what it answers."""
    words = sorted({engine, *ANSWER, *(w for w in _olds() if TELLING.search(w))}, key=len, reverse=True)
    return re.compile(rb"(?i:" + "|".join(map(re.escape, words)).encode() + rb")")


def _olds() -> Iterator[str]:
    for table in TABLES:
        for rule in rules.table(table):
            rows = rule.data.get("rows", ())
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, dict):
                    yield str(row["old"])
