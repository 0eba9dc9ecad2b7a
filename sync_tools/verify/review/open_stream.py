"""RV107: a stream with no handling of disconnects, or that leaves a sample pending.

When the connection ends in mid-stream, the exception passes through the rollout function, and the sample stays as it was:
neither aborted nor failed.
"""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.scopes import FUNCTIONS
from sync_tools.verify.source import Source

CODE = "RV107"
READS = frozenset(
    {"aiter_lines", "aiter_bytes", "aiter_text", "aiter_raw", "iter_lines", "iter_chunked", "iter_any", "content"}
)


def open_stream(source: Source) -> Iterator[Finding]:
    if not source.words & READS:
        return
    for loop in source.nodes(ast.AsyncFor):
        over = loop.iter.func if isinstance(loop.iter, ast.Call) else loop.iter
        if isinstance(over, ast.Attribute) and over.attr in READS and not _is_caught(source, loop):
            message = "nothing catches a connection that ends in mid-stream: the sample stays pending"
            yield Finding(source.path, loop.lineno, CODE, message, "catch it, and set the sample's status")


def _is_caught(source: Source, loop: ast.AST) -> bool:
    """Whether a `try` of the same function stands around the loop."""
    below = loop
    for up in source.ancestors(loop):
        if isinstance(up, FUNCTIONS):
            return False
        if isinstance(up, ast.Try) and below in up.body and (up.handlers or up.finalbody):
            return True
        below = up
    return False
