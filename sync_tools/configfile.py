"""A sync.toml as text: the built-in configuration with the reasons that a maintainer may want to change."""

from typing import Any

from sync_tools.config import Config

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
