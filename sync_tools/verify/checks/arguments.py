"""`args.x` that no parser in the tree defines.

Megatron's and vLLM's options pass through by introspection, so their names stand in no parser here: a name counts as defined
when anything in the tree gives the flag, stores the attribute or reads it already, or when vLLM has the flag.
"""

import ast
import re
from collections.abc import Iterator

from sync_tools.verify import engine
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import PYTHON, Source

HOLDERS = frozenset({"args", "_args", "self.args"})
NAMESPACE = frozenset(dir(object())) | {"__dict__", "items", "keys", "get", "values", "copy", "update"}


def arguments(context: Context) -> Iterator[Finding]:
    wanted: dict[str, list[tuple[Source, int]]] = {}
    for source in context.files():
        for name, line in _reads(source):
            wanted.setdefault(name, []).append((source, line))
    if not wanted or not context.code.mentioning("add_argument(", PYTHON):
        return
    for name in sorted(wanted):
        if not _is_defined(context, name):
            for source, line in wanted[name]:
                message = f"no parser in this tree defines `args.{name}`"
                yield Finding(source.path, line, "arguments.undefined", message, "bring the option that defines it")


def _reads(source: Source) -> Iterator[tuple[str, int]]:
    if "args" not in source.words:
        return
    guarded = {ast.literal_eval(c.args[1]) for c in source.nodes(ast.Call) if _asks_for_attribute(c)}
    for node in source.nodes(ast.Attribute):
        if isinstance(node.ctx, ast.Load) and _is_holder(node.value) and node.attr not in guarded | NAMESPACE:
            yield node.attr, node.lineno


def _asks_for_attribute(call: ast.Call) -> bool:
    named = isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr", "setattr")
    return named and len(call.args) > 1 and isinstance(call.args[1], ast.Constant)


def _is_holder(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}" in HOLDERS
    return isinstance(node, ast.Name) and node.id in HOLDERS


def _is_defined(context: Context, name: str) -> bool:
    """Whether something says the name exists: the fork read it before, or the tree gives, stores or defines it."""
    flag = name.replace("_", "-")
    prefix = next((r.new for r in context.config.names if r.old == "sglang"), "vllm")
    if flag.removeprefix(f"{prefix}-") in engine.load().flags:
        return True
    if context.code_before.mentioning(f"args.{name}", PYTHON) or context.code.mentioning(f"--{flag}"):
        return True
    stored = re.compile(
        rf"\bargs\.{name}\s*(?::[^=]+)?=(?!=)|[\"']--{name}[\"']|dest=[\"']{name}[\"']|[(,]\s*{name}\s*=(?!=)|^\s+{name}\s*:"
    )
    return any(stored.search(s.text) for s in context.code.mentioning(name, PYTHON))
