"""The private helpers that the inline style writes into a module."""

import tomllib
from functools import cache
from pathlib import Path

from sync_tools.translate.python.draft import Draft

_TABLE = Path(__file__).parent.parent / "rules" / "inline.toml"


@cache
def _helpers() -> dict[str, dict[str, object]]:
    return {entry["name"]: entry for entry in tomllib.loads(_TABLE.read_text("utf-8"))["helper"]}


def insert(
    draft: Draft, wanted: set[str], body_names: dict[str, str], sampling_names: dict[str, str], rule: str
) -> None:
    """Write the wanted helpers, and those that they use, behind the imports; what the module has already is left."""
    table = _helpers()
    wanted = wanted | {need for name in wanted for need in table[name].get("needs", ())}
    missing = [name for name in table if name in wanted and name not in draft.taken]
    if not missing:
        return
    texts = [_filled(str(table[name]["text"]), body_names, sampling_names) for name in missing]
    body = "\n\n" + "\n\n".join(texts)
    line = draft.end_of_imports()
    ahead = [draft.source.line(line), draft.source.line(line + 1)]
    body += "\n" * sum(1 for text in ahead if text.strip()) if any(ahead) else ""
    at = draft.source.line_start(line)
    draft.edits.insert(at, body.replace("\n", draft.source.newline))
    draft.applied(rule, at, "", ", ".join(missing))


def _filled(text: str, body_names: dict[str, str], sampling_names: dict[str, str]) -> str:
    """The helper with the names that it must translate; without the lines that would translate none."""
    lines = []
    for line in text.removeprefix("\n").splitlines(keepends=True):
        for mark, names in (("@BODY@", body_names), ("@SAMPLING@", sampling_names)):
            if mark in line:
                line = _translating(line, mark, names) if names else ""
        lines.append(line)
    return "".join(lines)


def _translating(line: str, mark: str, names: dict[str, str]) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    target = line.strip().partition(" = ")[0]
    entries = ", ".join(f'"{old}": "{new}"' for old, new in names.items())
    first = f"{indent}names = {{{entries}}}\n"
    if len(first) > 120:
        first = (
            f"{indent}names = {{\n"
            + "".join(f'{indent}    "{o}": "{n}",\n' for o, n in names.items())
            + f"{indent}}}\n"
        )
    return f"{first}{indent}{target} = {{names.get(key, key): value for key, value in {target}.items() if names.get(key) not in {target}}}\n"
