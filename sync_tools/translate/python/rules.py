"""The rule tables: what is recognised, what becomes of it, where that is known from."""

import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_SENDING = ("post", "equest", "stream")
_TABLES = Path(__file__).parent.parent / "rules"


@dataclass(frozen=True)
class Rule:
    """One rule as its table states it; `rows` are its data."""

    code: str
    title: str
    why: str
    before: str = ""
    after: str = ""
    unchanged: tuple[str, ...] = ()
    rows: tuple[dict[str, object], ...] = ()
    source: str = ""
    style: str = "module"


@dataclass(frozen=True)
class Key:
    """A key of a request or of sampling parameters. `new` None: the seam reads upstream's name."""

    rule: str
    old: str
    new: str | None = None
    engine: bool = False
    prompt: bool = False
    shared: bool = False
    refused: str | None = None
    source: str = ""


@dataclass(frozen=True)
class Endpoint:
    """A route. `new` None: no counterpart. `body`, `answer`, `method` name what else changes; `prose`: texts name it."""

    rule: str
    old: str
    new: str | None = None
    body: str | None = None
    answer: str | None = None
    method: str | None = None
    prose: bool = False
    source: str = ""


@dataclass(frozen=True)
class Word:
    """A word, or with `pattern` a regular expression that finds it; `hint` stands wherever the pattern matches."""

    rule: str
    old: str
    new: str
    pattern: str | None = None
    source: str = ""


@dataclass(frozen=True)
class Rules:
    request: dict[str, Key]
    sampling: dict[str, Key]
    endpoints: tuple[Endpoint, ...]
    words: tuple[Word, ...]

    @cached_property
    def triggers(self) -> tuple[str, ...]:
        """Words of which a text that names a route, a header or a policy holds one."""
        names = [endpoint.old[1:] for endpoint in self.endpoints]
        routes = [form.format(name) for name in names for form in ("/{}", '"{}"', "'{}'", '"{}?', "'{}?")]
        return (*routes, "get_model_url", *(word.old for word in self.words))

    def may_post_to_opaque(self, source: str) -> bool:
        """Whether the text may send a request to an address that it does not know."""
        return "sampling_params" in source and any(word in source for word in _SENDING)


@cache
def tables(name: str) -> tuple[Rule, ...]:
    """The rules of one table, in order."""
    content = (_TABLES / f"{name}.toml").read_text("utf-8")
    return tuple(
        Rule(**{**entry, **{name: tuple(entry.get(name, ())) for name in ("unchanged", "rows")}})
        for entry in tomllib.loads(content)["rule"]
    )


@cache
def rules() -> Rules:
    return Rules(
        request={key.old: key for key in _rows("request", Key)},
        sampling={key.old: key for key in _rows("sampling", Key)},
        endpoints=tuple(_rows("endpoints", Endpoint)),
        words=tuple(_rows("headers", Word)),
    )


def _rows(table: str, kind: type) -> list:
    return [kind(rule=rule.code, **row) for rule in tables(table) for row in rule.rows]
