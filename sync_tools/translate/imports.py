"""Imports of SGLang's modules in Python: rewritten where vLLM has the name, else left exactly as they are and reported."""

import re
from dataclasses import dataclass

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.text.pylex import Lexed

_STATEMENT = re.compile(
    r"(?m)^[ \t]*(?:>>> |\.\.\. )?"
    r"(?:from[ \t]+(?P<module>sglang[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]{0,5000}\)|(?:\\\r?\n|[^\n#;])+)"
    r"|import[ \t]+(?P<modules>(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*)*sglang\w*\b(?:\\\r?\n|[^\n#;])*))"
)
_NAME = re.compile(r"(?P<name>\w+)(?:\s+as\s+(?P<alias>\w+))?")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<module>sglang\.(?:srt|jit_kernel|launch_server|lang)\b[\w.]*)(?P=quote)""")


@dataclass(frozen=True)
class Table:
    counterparts: dict[str, str]
    packages: dict[str, str]
    hints: dict[str, str]
    found: str
    package: str

    @staticmethod
    def load(seam: str | None) -> "Table":
        by_code = {r.code: r for r in rules.table("imports")}
        old, new = by_code["SY402"].words("package")
        rows = {name: seam if module == "{seam}" else module for name, module in by_code["SY401"].rows().items()}
        counterparts = {name: module for name, module in rows.items() if module}
        return Table(counterparts, {old: new}, by_code["SY403"].rows("hints"), "SY401", "SY402")

    def why(self, module: str) -> str:
        best = max((p for p in self.hints if module.startswith(p)), key=len, default=None)
        return f"no counterpart in vLLM{f': {self.hints[best]}' if best else ''}"


def translate_imports(claims: Claims, lexed: Lexed, seam: str | None) -> None:
    """Claim every import statement of SGLang's modules, and report the ones that stay. `seam`: the module, if there is one."""
    table, text = Table.load(seam), claims.text
    stays: set[str] = set()
    for match in _STATEMENT.finditer(text):
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        region = lexed.at(start)
        if region is not None and (region.comment or not region.long):
            continue
        module = match["module"] or re.search(r"\bsglang[\w.]*", match["modules"])[0]  # type: ignore[index]
        package = module.split(".")[0]
        if package in table.packages:
            at = text.index(module, start)
            claims.edit(Edit(at, at + len(package), table.packages[package], table.package, match[0].strip(), None))
            continue
        if package != "sglang":
            continue
        if match["module"] and _rewrite(claims, table, match, start):
            continue
        end = match.end() - (len(match[0]) - len(match[0].rstrip()))
        claims.keep(start, end)
        if region is None:
            claims.site(start, end, _one_line(text[start:end]), table.why(module))
            stays |= _bound(match)
    for match in _QUOTED.finditer(text):
        region = lexed.at(match.start())
        if region and not region.comment and not region.long and claims.free(match.start(), match.end()):
            claims.site(match.start(), match.end(), match["module"], table.why(match["module"]))
            claims.keep(match.start(), match.end())
    _keep_uses(claims, stays)


def _rewrite(claims: Claims, table: Table, match: re.Match[str], start: int) -> bool:
    names = [m["name"] for m in _NAME.finditer(re.sub(r"#[^\n]*|\\\r?\n", " ", match["names"]))]
    targets = {table.counterparts.get(f"{match['module']}.{name}") for name in names}
    if len(targets) != 1 or None in targets:
        return False
    at, target = match.start("module"), targets.pop()
    assert target is not None
    return claims.edit(Edit(at, at + len(match["module"]), target, table.found, _one_line(match[0])))


def _one_line(statement: str) -> str:
    return " ".join(statement.split())


def _bound(match: re.Match[str]) -> set[str]:
    """The names that a statement binds."""
    bound = set()
    for m in _NAME.finditer(re.sub(r"#[^\n]*|\\\r?\n", " ", match["names"] or "")):
        bound.add(m["alias"] or m["name"])
    for part in (match["modules"] or "").split(","):
        words = part.split()
        if words:
            bound.add(words[-1] if "as" in words else words[0].split(".")[0])
    return bound


def _keep_uses(claims: Claims, names: set[str]) -> None:
    """A name bound by an import that stays keeps its spelling wherever the file uses it."""
    kept = sorted(n for n in names if "sglang" in n.lower())
    if not kept:
        return
    # A bare `sglang` is a word of prose as well: only its attributes are uses of the module.
    uses = "|".join(re.escape(n) + (r"(?=\.[A-Za-z_])" if n == "sglang" else "") for n in kept)
    for match in re.finditer(rf"(?<![\w.])(?:{uses})(?!\w)", claims.text):
        claims.keep(match.start(), match.end())
