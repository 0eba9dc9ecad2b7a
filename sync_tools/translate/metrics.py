"""Prometheus metrics of the engine: vLLM's name where it has the figure, else left as they are and reported."""

import re

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit

_METRIC = re.compile(r"(?<![\w/-])sglang:(?P<name>[a-z]+(?:_[a-z0-9]+)+?)(?P<suffix>_bucket|_sum|_count)?(?![\w-])")


def translate_metrics(claims: Claims) -> None:
    """Claim every metric of the engine."""
    (rule,) = rules.table("metrics")
    rows = rule.rows()
    for match in _METRIC.finditer(claims.text):
        new = rows.get(match["name"])
        if new is not None:
            claims.edit(Edit(match.start(), match.end(), f"vllm:{new}{match['suffix'] or ''}", rule.code))
        elif claims.free(match.start(), match.end()):
            claims.keep(match.start(), match.end())
            claims.site(match.start(), match.end(), match[0], "vLLM exports no metric of that meaning")
