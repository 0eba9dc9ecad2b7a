"""A sync.toml as text: the built-in configuration with the reasons that a maintainer may want to change."""

from collections.abc import Sequence
from typing import Any

from sync_tools.config import Config, Move, Overlay

HEAD = """What differs between upstream and this fork. Every key may be left out: its built-in value then holds.
See docs/configuration.md."""
ABOUT = {
    "upstream": "owner/name on the forge, and the word in branch and ledger names",
    "names": "upstream's words and ours; the other casings follow",
    "policies": "what becomes of upstream's paths: skip (not wanted), owned (ours alone), into (lives in another file of ours)",
    "seam": "style: module (the tree has the seam), vendor (the first port adds it), inline (no seam); unset: chosen by the tree",
    "ci": "where the template and the tests stand; places: rows that stand in another job here; exempt: tests that CI leaves out",
}


def render(config: Config) -> str:
    """The configuration as TOML with comments."""
    import tomlkit

    document = tomlkit.document()
    for line in HEAD.splitlines():
        document.add(tomlkit.comment(line))
    values = config.model_dump(by_alias=True, exclude_none=True, mode="json")
    # TOML wants plain keys before the first table.
    for key, value in sorted(values.items(), key=lambda item: isinstance(item[1], dict | list)):
        if value in ([], {}) or (isinstance(value, dict) and not _kept(value)):
            continue
        if isinstance(value, dict | list):
            document.add(tomlkit.nl())
            if key in ABOUT:
                document.add(tomlkit.comment(ABOUT[key]))
        document.add(key, _item(value))
    return tomlkit.dumps(document)


def adopted(content: str, cutoff: str, overlays: Sequence[Overlay], moves: Sequence[Move]) -> str:
    """The text of a sync.toml with a cutoff, and rows added for what differs; everything else in it stays as it is."""
    import tomlkit
    from tomlkit.items import Table

    document = tomlkit.parse(content)
    if "upstream" not in document:
        document.add("upstream", tomlkit.table())
    table = document["upstream"]
    if isinstance(table, Table) and "cutoff" not in table and table:
        # At the end of the table it would stand after the comment on the next one.
        table.value._insert_after(list(table)[-1], "cutoff", cutoff)
    else:
        table["cutoff"] = cutoff  # type: ignore[index]
    for key, rows in (("paths", moves), ("overlays", overlays)):
        if rows:
            _append(document, key, [row.model_dump(exclude_none=True) for row in rows])
    return tomlkit.dumps(document)


def _append(document: Any, key: str, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows to an array of tables, or to an array that somebody wrote in brackets."""
    import tomlkit
    from tomlkit.items import AoT

    if key not in document:
        document.add(tomlkit.nl())
        document.add(key, tomlkit.aot())
    for row in rows:
        document[key].append(_item(row) if isinstance(document[key], AoT) else _inline(row))


def _inline(row: dict[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.inline_table()
    table.update(_kept(row))
    return table


def _kept(value: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in value.items() if v not in ([], {}, None, "")}


def _item(value: Any) -> Any:
    import tomlkit

    if isinstance(value, dict):
        table = tomlkit.table()
        for key, inner in _kept(value).items():
            table.add(key, inner)
        return table
    if isinstance(value, list) and value and isinstance(value[0], dict):
        array = tomlkit.aot()
        for inner in value:
            array.append(_item(inner))
        return array
    return value
