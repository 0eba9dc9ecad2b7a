"""The review rules, by code."""

from collections.abc import Callable, Iterator

from sync_tools.verify.model import Context, Finding
from sync_tools.verify.review.abort_overwritten import abort_overwritten
from sync_tools.verify.review.escaped_json import escaped_json
from sync_tools.verify.review.foreign_loop import foreign_loop
from sync_tools.verify.review.home_paths import home_paths
from sync_tools.verify.review.interpreters import interpreters
from sync_tools.verify.review.nested_status import nested_status
from sync_tools.verify.review.open_stream import open_stream
from sync_tools.verify.review.queue_rest import queue_rest
from sync_tools.verify.review.semaphore_twice import semaphore_twice
from sync_tools.verify.review.shell_values import shell_values
from sync_tools.verify.review.template_twice import template_twice
from sync_tools.verify.review.zero_logprobs import zero_logprobs
from sync_tools.verify.source import Source

RULES: dict[str, Callable[[Source], Iterator[Finding]]] = {
    "RV101": zero_logprobs,
    "RV102": escaped_json,
    "RV103": foreign_loop,
    "RV104": semaphore_twice,
    "RV105": queue_rest,
    "RV106": nested_status,
    "RV107": open_stream,
    "RV108": abort_overwritten,
    "RV109": shell_values,
    "RV110": interpreters,
    "RV111": home_paths,
    "RV112": template_twice,
}


def review(context: Context) -> Iterator[Finding]:
    """Every rule over every touched file."""
    for source in context.files():
        for rule in RULES.values():
            yield from dict.fromkeys(rule(source))
