"""The reference of the rules, `docs/rules.md`, made from their tables."""

from collections.abc import Mapping

from sync_tools.translate.rules import Rule, all_rules

FAMILIES = (
    ("SY1", "Requests and answers (Python, by provenance)"),
    ("SY2", "Names, and what is protected"),
    ("SY3", "Server flags and settings"),
    ("SY4", "Python imports"),
    ("SY5", "Sentences"),
)
INTRODUCTION = """# Rules of translation

Generated from `sync_tools/translate/rules/*.toml` by `python -m sync_tools.translate.reference`; do not edit.

Each rule has a stable code, which the ledger, `--explain` and the findings use. The examples are tests. *seam.md* is the
project's fact sheet about both engines.
"""


def reference() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for prefix, title in FAMILIES:
        rules = [r for r in all_rules() if r.code.startswith(prefix)]
        if rules:
            parts += [f"## {title}\n", *(_section(r) for r in rules)]
    return "\n".join(parts)


def _section(rule: Rule) -> str:
    parts = [f"### {rule.code}: {rule.title}\n", f"{rule.why}\n", f"Source: {rule.source}. Table: `{rule.table}.toml`.\n"]
    if rows := _rows(rule):
        parts.append(rows)
    for before, after in rule.examples:
        parts += ["Before\n", _block(before), "After\n", _block(after or "(dropped)\n")]
    if rule.unchanged:
        parts += ["Left alone\n", *(_block(text) for text in rule.unchanged)]
    return "\n".join(parts)


def _block(text: str) -> str:
    body = text.strip("\n")
    fence = "````" if "```" in body else "```"
    return f"{fence}text\n{body}\n{fence}\n"


def _rows(rule: Rule) -> str:
    """The table of a rule's data, whichever shape it has."""
    pairs = list(rule.rows().items()) or [(name, "") for name in rule.rows("takes")]
    rows = rule.data.get("rows")
    if isinstance(rows, list):
        pairs = [(str(r.get("old", "")), str(r.get("new") or "")) for r in rows if isinstance(r, Mapping)]
    names = [*rule.words("members"), *rule.words("words"), *rule.words("names"), *rule.words("prefixes"), *rule.words("files")]
    if pairs:
        return "| upstream | fork |\n|---|---|\n" + "".join(f"| {_cell(a)} | {_cell(b)} |\n" for a, b in pairs)
    return "Covers " + ", ".join(f"`{n}`" for n in names) + ".\n" if names else ""


def _cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else "(none)"


if __name__ == "__main__":
    import sys

    sys.stdout.write(reference())
