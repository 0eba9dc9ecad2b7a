"""`args.x` that no parser in the tree defines.

Megatron's and vLLM's options pass through by introspection, so their names stand in no parser here: a name counts as defined
when anything in the tree gives the flag, stores the attribute or reads it already, or when vLLM has the flag.
"""

import ast
import re
from collections.abc import Iterator

from sync_tools.verify import engine
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.removed import RemovedOption
from sync_tools.verify.source import PYTHON, Source

HOLDERS = frozenset({"args", "_args", "self.args"})
NAMESPACE = frozenset(dir(object())) | {"__dict__", "items", "keys", "get", "values", "copy", "update"}


def arguments(context: Context) -> Iterator[Finding]:
    yield from _undefined(context)
    yield from _removed(context)


def _undefined(context: Context) -> Iterator[Finding]:
    known = _read_before(context)
    wanted: dict[str, list[tuple[Source, int]]] = {}
    for source in context.files():
        for name, line in _reads(source):
            if name not in known:
                wanted.setdefault(name, []).append((source, line))
    if not wanted or not any(context.code.mentioning("add_argument(", PYTHON)):
        return
    for name in sorted(n for n in wanted if not _is_defined(context, n)):
        for source, line in wanted[name]:
            message = f"no parser in this tree defines `args.{name}`"
            yield Finding(source.path, line, "arguments.undefined", message, "bring the option that defines it")


def _removed(context: Context) -> Iterator[Finding]:
    """Options that the port took from a parser and that something still gives."""
    for gone in context.removed:
        if isinstance(gone, RemovedOption):
            pattern = re.compile(rf"(?<![\w-]){re.escape(gone.flag)}(?![\w-])")
            message = f"no parser in this tree defines `{gone.flag}` any more"
            for source, line in context.mentions(gone.flag, pattern):
                yield Finding(source.path, line, "arguments.removed", message, "leave it out, or keep the option")


def _read_before(context: Context) -> frozenset[str]:
    """What the touched files read already, wherever it moved: it is no news."""
    before = [context.code_before.source(path) for path in sorted(context.touched & context.code_before.paths)]
    return frozenset(name for source in before if source for name in re.findall(r"\bargs\.(\w+)", source.text))


def _is_defined(context: Context, name: str) -> bool:
    """Whether something speaks for the name: the engine, a file that the port left alone, an option, an assignment."""
    code, flag = context.code, name.replace("_", "-")
    prefix = next((r.new for r in context.config.names if r.old == "sglang"), "vllm")
    if flag.removeprefix(f"{prefix}-") in engine.load().flags:
        return True
    read = re.compile(rf"\bargs\.{name}\b")
    if any(s.path not in context.touched and read.search(s.text) for s in code.mentioning(f"args.{name}", PYTHON)):
        return True
    given = re.compile(rf"(?<![\w-])--(?:no-)?(?:{flag}|{name})(?![\w-])")
    if any(given.search(s.text) for word in {flag, name} for s in code.mentioning(f"-{word}")):
        return True
    stored = re.compile(
        rf"\bargs\.{name}\s*(?::[^=\n]+)?=(?!=)|[(,]\s*{name}\s*=(?!=)|^\s+{name}\s*:|[\"']{name}[\"']", re.M
    )
    return any(stored.search(s.text) for s in code.mentioning(name, PYTHON))


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
