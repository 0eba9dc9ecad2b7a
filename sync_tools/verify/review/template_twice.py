"""RV112: the chat template is applied to what it has been applied to already."""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import Source
from sync_tools.verify.urls import scope_of, values_of

CODE = "RV112"
APPLY = "apply_chat_template"


def template_twice(source: Source) -> Iterator[Finding]:
    if APPLY not in source.words:
        return
    for call in source.nodes(ast.Call):
        if _is_apply(call) or _is_chat_request(call):
            inputs = [*call.args, *(k.value for k in call.keywords)]
            if any(_is_templated(source, value) for value in inputs):
                message = "this text went through the chat template already"
                yield Finding(source.path, call.lineno, CODE, message, "give the messages, or the text as it is")


def _is_apply(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == APPLY


def _is_chat_request(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func).endswith("chat.completions.create")


def _is_templated(source: Source, value: ast.expr, depth: int = 3) -> bool:
    """Whether a value holds a name to which the template's result was given, and nothing else."""
    if isinstance(value, ast.Call):
        return False
    if isinstance(value, ast.Name):
        known = values_of(source, value)
        if len(known) == 1 and _is_apply(known[0]):
            return scope_of(source, known[0]) is scope_of(source, value)
        return depth > 0 and len(known) == 1 and _is_templated(source, known[0], depth - 1)
    return any(
        _is_templated(source, child, depth) for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr)
    )
