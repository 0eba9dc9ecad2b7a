"""Prometheus metrics of the engine: vLLM's name where it has the figure; else its line goes, or it is left and reported."""

import re

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit

_METRIC = re.compile(r"(?<![\w/-])sglang:(?P<name>[a-z]+(?:_[a-z0-9]+)+?)(?P<suffix>_bucket|_sum|_count)?(?![\w-])")


def translate_metrics(claims: Claims, *, lines_may_go: bool) -> None:
    """Claim every metric of the engine. `lines_may_go`: a line of a document that only names one without a counterpart."""
    named, alone = rules.table("metrics")
    rows = named.rows()
    for match in _METRIC.finditer(claims.text):
        new = rows.get(match["name"])
        if new is not None:
            claims.edit(Edit(match.start(), match.end(), f"vllm:{new}{match['suffix'] or ''}", named.code))
        elif lines_may_go and (line := _line_of(claims.text, match)) and claims.free(*line):
            claims.edit(Edit(*line, "", alone.code, before=match[0], after="", at=match.start()))
        elif claims.free(match.start(), match.end()):
            claims.keep(match.start(), match.end())
            claims.site(match.start(), match.end(), match[0], "vLLM exports no metric of that meaning")


def _line_of(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """The line that holds a metric and nothing else, with its newline."""
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    return (start, end + 1) if end >= 0 and text[start:end].strip() == match[0] else None
