"""RV110: a hard-coded interpreter: another Python than the one that runs may be found, or none."""

import ast
import re
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import SHELL, Source

CODE = "RV110"
RUNS = frozenset({"run", "Popen", "call", "check_call", "check_output", "system", "create_subprocess_exec", "execvp"})
PYTHON_COMMAND = re.compile(r"python[\d.]*(\s|$)|/\S*/python[\d.]*(\s|$)")
ABSOLUTE = re.compile(r"(?<![\w$}])/(?:usr|opt|root|home)/[\w./-]*bin/python[\d.]*")


def interpreters(source: Source) -> Iterator[Finding]:
    if source.suffix in SHELL:
        for number, line in enumerate(source.lines, 1):
            if (m := ABSOLUTE.search(line)) and not line.startswith("#"):
                yield Finding(source.path, number, CODE, f"`{m[0]}` is hard-coded", "call `python` by name")
    for call in source.nodes(ast.Call) if "python" in source.text else ():
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in RUNS and call.args and (command := _first_word(call.args[0])) and PYTHON_COMMAND.match(command):
            message = f"the interpreter `{command.split()[0]}` is hard-coded"
            yield Finding(source.path, call.lineno, CODE, message, "use sys.executable")


def _first_word(command: ast.expr) -> str:
    match command:
        case ast.Constant(value=str(text)):
            return text
        case ast.List(elts=[ast.Constant(value=str(text)), *_]) | ast.Tuple(elts=[ast.Constant(value=str(text)), *_]):
            return text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text
    return ""
