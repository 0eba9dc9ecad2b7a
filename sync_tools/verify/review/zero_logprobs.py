"""RV101: log probabilities that are missing are filled with zeros.

Zero says that the engine was certain of the token; a loss computed from it is wrong without any error. Tokens that are not
trained (a tool's answer, with a loss mask of zeros) may have zeros.
"""

import ast
import re
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import Source

CODE = "RV101"
LOGPROBS = re.compile(r"log_?probs?", re.IGNORECASE)
NOT_TRAINED = re.compile(r"loss_mask|trainable\s*=\s*False|not\s+trainable")


def zero_logprobs(source: Source) -> Iterator[Finding]:
    if not LOGPROBS.search(source.text):
        return
    for node in [*source.nodes(ast.BinOp), *source.nodes(ast.Call), *source.nodes(ast.ListComp)]:
        if _is_zeros(node) and (statement := _for_logprobs(source, node)) and not _is_untrained(source, statement):
            message = "missing log probabilities are filled with zeros: the loss takes them for certainty"
            yield Finding(source.path, node.lineno, CODE, message, "fail, or drop the sample")


def _is_zeros(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(left=ast.List(elts=[ast.Constant(value=0 | 0.0)]), op=ast.Mult()):
            return True
        case ast.BinOp(right=ast.List(elts=[ast.Constant(value=0 | 0.0)]), op=ast.Mult()):
            return True
        case ast.ListComp(elt=ast.Constant(value=0 | 0.0)):
            return True
        case ast.Call(func=ast.Attribute(attr="zeros" | "zeros_like", value=ast.Name(id="np" | "numpy" | "torch"))):
            return True
    return False


def _for_logprobs(source: Source, node: ast.expr) -> ast.stmt | None:
    """The statement in which the zeros become log probabilities."""
    below: ast.AST = node
    for up in source.ancestors(node):
        if isinstance(up, ast.keyword) and up.arg and LOGPROBS.search(up.arg):
            return _statement(source, up)
        if isinstance(up, ast.Call):
            asked = up.func.attr == "get" if isinstance(up.func, ast.Attribute) else False
            named = asked and isinstance(up.args[0], ast.Constant) and LOGPROBS.search(str(up.args[0].value))
            return _statement(source, up) if named and below in up.args[1:] else None
        if isinstance(up, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = up.targets if isinstance(up, ast.Assign) else [up.target]
            return up if any(LOGPROBS.search(_last_name(t)) for t in targets) else None
        if isinstance(up, ast.stmt):
            return None
        below = up
    return None


def _last_name(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def _statement(source: Source, node: ast.AST) -> ast.stmt:
    return next(up for up in source.ancestors(node) if isinstance(up, ast.stmt))


def _is_untrained(source: Source, statement: ast.stmt) -> bool:
    """Whether the statement, a neighbour, or an `if` around it says that these tokens are not trained."""
    here: ast.AST = statement
    while True:
        around = source.parent(here)
        if NOT_TRAINED.search(_near(source, around, here)):
            return True
        if not isinstance(around, ast.If):
            return False
        if NOT_TRAINED.search(ast.unparse(around.test)):
            return True
        here = around


def _near(source: Source, around: ast.AST | None, statement: ast.AST) -> str:
    """The text of the three statements on either side of one, in its block."""
    blocks = (getattr(around, field, None) or [] for field in ("body", "orelse", "finalbody"))
    block = next((b for b in blocks if isinstance(b, list) and statement in b), [statement])
    at = block.index(statement)
    near = block[max(0, at - 3) : at + 4]
    return "\n".join(source.lines[near[0].lineno - 1 : near[-1].end_lineno])
