"""The private helpers that the inline style writes into a module."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sync_tools.translate.python.draft import Draft

_TABLE = Path(__file__).parent.parent / "rules" / "inline.toml"


@cache
def _helpers() -> dict[str, dict[str, object]]:
    return {entry["name"]: entry for entry in tomllib.loads(_TABLE.read_text("utf-8"))["helper"]}


@dataclass(frozen=True)
class Names:
    """What the request helper must translate; `mixed`: it also meets bodies that are no requests."""

    request: dict[str, str]
    sampling: dict[str, str]
    mixed: bool


def insert(draft: Draft, wanted: set[str], names: Names, rule: str) -> None:
    """Write the wanted helpers, and those that they use, behind the imports; what the module has already is left."""
    table = _helpers()
    wanted = wanted | {need for name in wanted for need in table[name].get("needs", ())}
    missing = [name for name in table if name in wanted and name not in draft.taken]
    if not missing:
        return
    body = "\n\n" + "\n\n".join(_filled(str(table[name]["text"]), names) for name in missing)
    line = draft.end_of_imports()
    ahead = [draft.source.line(line), draft.source.line(line + 1)]
    body += "\n" * sum(1 for text in ahead if text.strip()) if any(ahead) else ""
    at = draft.source.line_start(line)
    draft.edits.insert(at, body.replace("\n", draft.source.newline))
    draft.applied(rule, at, "", ", ".join(missing))


def _filled(text: str, names: Names) -> str:
    """The helper with the names that it must translate; without the lines that would translate none."""
    lines = []
    for line in text.removeprefix("\n").splitlines(keepends=True):
        for mark, table in (("@BODY@", names.request), ("@SAMPLING@", names.sampling)):
            if mark in line:
                line = _translating(line, table) if table else ""
        lines.append(line if "@MIXED@" not in line else _MIXED if names.mixed else "")
    return "".join(lines)


_MIXED = """    if "sampling_params" not in body:
        return body
"""


def _translating(line: str, names: dict[str, str]) -> str:
    """Statements that put the names of a dict into vLLM's words; a name that is there already wins."""
    target = line.strip().partition(" = ")[0]
    entries = ", ".join(f'"{old}": "{new}"' for old, new in names.items())
    first = f"    names = {{{entries}}}\n"
    if len(first) > 120:
        first = "    names = {\n" + "".join(f'        "{old}": "{new}",\n' for old, new in names.items()) + "    }\n"
    renamed = f"{{names.get(key, key): value for key, value in {target}.items() if names.get(key) not in {target}}}"
    return f"{first}    {target} = {renamed}\n"
