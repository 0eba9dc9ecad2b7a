"""The rules as data. Each table's rules have a code, and examples that are their tests."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

FIELDS = ("code", "title", "why", "source", "before", "after", "unchanged", "path")


@dataclass(frozen=True)
class Rule:
    """One rule: what the reference prints, and the rows that say what it does.

    `examples` are texts before and after; `unchanged` are texts that it must leave alone; `path` is where they stand.
    `data` holds what only the pass of its table reads.
    """

    code: str
    title: str
    why: str
    source: str
    table: str
    examples: tuple[tuple[str, str], ...] = ()
    unchanged: tuple[str, ...] = ()
    path: str = "vime_example.py"
    data: Mapping[str, object] = field(default_factory=dict)

    def rows(self, name: str = "rows") -> dict[str, str]:
        value = self.data.get(name, {})
        return dict(value) if isinstance(value, dict) else {}

    def words(self, name: str) -> tuple[str, ...]:
        value = self.data.get(name, ())
        return tuple(value) if isinstance(value, list) else ()


def _texts(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else ()


@cache
def table_names() -> tuple[str, ...]:
    return tuple(
        sorted(p.name.removesuffix(".toml") for p in resources.files(__name__).iterdir() if p.name.endswith(".toml"))
    )


@cache
def source_of(name: str) -> bytes:
    """The bytes of a table, as the digest of the rules needs them."""
    return resources.files(__name__).joinpath(f"{name}.toml").read_bytes()


@cache
def table(name: str) -> tuple[Rule, ...]:
    """The rules of a table, in its order."""
    raw = tomllib.loads(source_of(name).decode("utf-8"))
    return tuple(_rule(name, entry) for entry in raw.get("rule", ()) if isinstance(entry, dict) and "code" in entry)


def _rule(name: str, entry: dict[str, object]) -> Rule:
    before, after = _texts(entry.get("before")), _texts(entry.get("after"))
    return Rule(
        code=str(entry["code"]),
        title=str(entry.get("title", "")),
        why=str(entry.get("why", "")),
        source=str(entry.get("source") or _row_sources(entry.get("rows"))),
        table=name,
        examples=tuple(zip(before, after, strict=True)),
        unchanged=_texts(entry.get("unchanged")),
        path=str(entry.get("path", Rule.path)),
        data={k: v for k, v in entry.items() if k not in FIELDS},
    )


def _row_sources(rows: object) -> str:
    """The sources of rows that carry their own, each once."""
    sources = (
        [str(row["source"]) for row in rows if isinstance(row, dict) and row.get("source")]
        if isinstance(rows, list)
        else []
    )
    return f"seam.md {', '.join(dict.fromkeys(sources))}" if sources else ""


def all_rules() -> tuple[Rule, ...]:
    """Every rule of every table, by code."""
    return tuple(sorted((r for name in table_names() for r in table(name)), key=lambda r: (r.code, r.table)))
