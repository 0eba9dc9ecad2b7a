"""The rows of all tables that say what the fork's engine has, each with the facts that it rests on."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sync_tools.translate import rules
from sync_tools.translate.rules import Rule

RULES = "sync_tools/translate/rules"
FACTS = "sync_tools/verify/tables/vllm.toml"


@dataclass(frozen=True)
class Row:
    """One row: `needs` must all hold, and of each one of its alternatives; `gone` are facts that must not hold."""

    file: str
    rule: str
    what: str
    needs: tuple[tuple[str, ...], ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def facts(self) -> frozenset[str]:
        """Every fact that the row names."""
        return frozenset(fact for need in self.needs for fact in need) | frozenset(self.gone)


def asked_names(rows: tuple[Row, ...]) -> list[str]:
    """The dotted names that a snapshot must have been asked for."""
    named = {fact.removeprefix("name ") for row in rows for fact in row.facts if fact.startswith("name ")}
    return sorted(named)


@cache
def all_rows() -> tuple[Row, ...]:
    """The rows that rest on the engine, in the order of their files."""
    return (*_of_rules(), *_of_facts(), *_of_code())


def _of_rules() -> Iterator[Row]:
    for table, needs in _NEEDS.items():
        for rule in rules.table(table):
            for what, wanted in needs(rule):
                yield Row(f"{RULES}/{table}.toml", rule.code, what, tuple(wanted))


Needs = Iterator[tuple[str, list[tuple[str, ...]]]]


def _listed(rule: Rule) -> list[dict[str, str]]:
    rows = rule.data.get("rows", ())
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _endpoints(rule: Rule) -> Needs:
    for row in _listed(rule):
        if row.get("new"):
            wanted = [(f"route {row['new']}",)]
            if row.get("method"):
                wanted.append((f"route {row['new']} {row['method'].upper()}",))
            wanted += [(f"route {row['new']} {hangs}",) for hangs in _BODIES.get(row.get("body", ""), ())]
            yield f"{row['old']} -> {row['new']}", wanted


_BODIES = {
    "abort": ("{request_ids}",),
    "pause": ("?mode", "?clear_cache"),
    "wake": ("?tags",),
    "profile": ("{delay_iterations}", "{max_iterations}"),
}


def _keys(kinds: tuple[str, ...]):
    def needs(rule: Rule) -> Needs:
        for row in _listed(rule):
            if row.get("new"):
                yield f"{row['old']} -> {row['new']}", [tuple(f"{kind} {row['new']}" for kind in kinds)]

    return needs


def _headers(rule: Rule) -> Needs:
    for row in _listed(rule):
        if rule.code == "SY131":
            yield f"{row['old']} -> {row['new']}", [(f"router header {row['new']}",)]
        elif rule.code == "SY132":
            yield f"{row['old']} -> {row['new']}", [(f"router flag policy = {row['new']}",)]


def _mentions(rule: Rule) -> Needs:
    for old, new in rule.rows().items() if rule.data["where"] != "gone" else ():
        yield f"{old} -> {new}", [(f"route {new.split()[0]}",)]
    if rule.data.get("replace"):
        yield f"{rule.data['pattern']} -> {rule.data['replace']}", [(f"route {rule.data['replace']}",)]


def _imports(rule: Rule) -> Needs:
    for old, new in rule.rows().items():
        if new != "{seam}":
            yield f"{old} -> {new}", [(f"name {new}.{old.rpartition('.')[2]}",)]
    if rule.words("package"):
        old, new = rule.words("package")
        yield (
            f"{old} -> {new}",
            [(f"name {new}.launch_router.RouterArgs",), (f"name {new}.launch_router.launch_router",)],
        )
    for module, hint in rule.rows("hints").items():
        named = re.findall(r"\bvllm(?:\.\w+)+", hint)
        if named:
            yield f"hint of {module}", [(f"name {name}",) for name in named]


def _metrics(rule: Rule) -> Needs:
    for old, new in rule.rows().items():
        yield f"{old} -> {new}", [(f"metric {new}",)]


def _arguments(rule: Rule) -> Needs:
    for old, new in rule.rows().items() if not rule.data.get("derived") else ():
        flag = new.removeprefix("vllm_").replace("_", "-")
        kinds = ("engine flag", "flag") if new.startswith("vllm_") else ("router flag",)
        flag = flag if new.startswith("vllm_") else flag.removeprefix("router-")
        yield f"{old} -> {new}", [tuple(f"{kind} {flag}" for kind in kinds)]


def _flags(rule: Rule) -> Needs:
    action = str(rule.data.get("action"))
    for old, new in rule.rows().items():
        if action == "site":
            named = re.findall(r"--(?:vllm-)?([a-z][a-z-]+)", new)
            if named:
                yield f"hint of {old}", [(f"flag {name}",) for name in named]
        elif action == "json":
            yield f"{old} -> {new}", _json_needs(new)
        elif new.startswith("--"):
            yield f"{old} -> {new}", [(f"router flag {new[2:].removeprefix('router-')}",)]
        else:
            values = _values(rule, old)
            yield f"{old} -> {new}", [(f"flag {new}",), *((f"flag {new} = {v}",) for v in values if v)]
    for word in rule.words("words") if action == "own" else ():
        if word not in owned():
            yield word, [(f"flag {word}",)]
    if action == "fold":
        yield f"{', '.join(rule.words('members'))} -> {rule.data['into']}", _folded(str(rule.data["fold"]))
    if action == "command":
        named = re.findall(r"--([a-z-]+)", str(rule.data["command"]))
        yield str(rule.data["command"]), [(f"flag {name}",) for name in named]


def _values(rule: Rule, flag: str) -> list[str]:
    values = rule.data.get("values", {})
    return [str(v) for v in values.get(flag, {}).values()] if isinstance(values, dict) else []


def _json_needs(new: str) -> list[tuple[str, ...]]:
    """The flags that a setting becomes, and the keys and values of their JSON."""
    wanted = []
    for flag, text in re.findall(r"--vllm-([a-z-]+)(?: (\{.*?\}))?", new):
        wanted.append((f"flag {flag}",))
        for key, value in json.loads(text.replace("VALUE", "0")).items() if text else ():
            wanted.append((f"config {flag}.{key}",))
            if isinstance(value, str):
                wanted.append((f"config {flag}.{key} = {value}",))
    return wanted


def _folded(fold: str) -> list[tuple[str, ...]]:
    """What the functions that fold flags write (`translate/flagtable.py`)."""
    if fold == "deepep":
        return [(f"flag all2all-backend = deepep_{mode}",) for mode in ("low_latency", "high_throughput")]
    if fold == "transfer":
        option = "config kv-transfer-config"
        return [
            ("flag kv-transfer-config",),
            *((f"{option}.{key}",) for key in ("kv_connector", "kv_connector_extra_config")),
            (f"{option}.kv_role = kv_both",),
        ]
    keys = ("method", "model", "num_speculative_tokens", "attention_backend")
    methods = ("eagle", "eagle3", "mtp", "ngram")
    option = "config speculative-config"
    return [
        ("flag speculative-config",),
        *((f"{option}.{k}",) for k in keys),
        *((f"{option}.method = {m}",) for m in methods),
    ]


_NEEDS = {
    "endpoints": _endpoints,
    "request": _keys(("request", "sampling")),
    "sampling": _keys(("sampling",)),
    "headers": _headers,
    "mentions": _mentions,
    "imports": _imports,
    "metrics": _metrics,
    "arguments": _arguments,
    "flags": _flags,
}


@cache
def _facts() -> dict:
    return tomllib.loads(files("sync_tools.verify").joinpath("tables", "vllm.toml").read_text("utf-8"))


@cache
def owned() -> frozenset[str]:
    """Flags that the fork's launcher has itself."""
    return frozenset(_facts()["flags"]["owned"])


def _of_facts() -> Iterator[Row]:
    """The tables of the checks: what upstream's spellings became."""
    raw = _facts()
    for old, new in raw["sampling"]["old"].items():
        if new:
            yield Row(FACTS, "sampling.old", f"{old} -> {new}", ((f"sampling {new}",),))
    for old, new in raw["flags"]["old"].items():
        if new and new not in owned():
            yield Row(FACTS, "flags.old", f"{old} -> {new}", ((f"flag {new}",),))
    for old, new in raw["routes"]["old"].items():
        routes = re.findall(r"/[\w/]+", new)
        if routes:
            yield Row(FACTS, "routes.old", f"{old} -> {new}", tuple((f"route {route}",) for route in routes))
    for route in raw["routes"]["token_routes"]:
        yield Row(FACTS, "routes.token_routes", route, ((f"route {route} POST",),))
    for module in raw["imports"]["absent"]:
        yield Row(FACTS, "imports.absent", module, gone=(f"name {module}",))


def _of_code() -> Iterator[Row]:
    raw = tomllib.loads(files("sync_tools.seam").joinpath("tables", "rests.toml").read_text("utf-8"))
    for row in raw["row"]:
        needs = tuple(tuple(part.strip() for part in need.split(" | ")) for need in row["needs"])
        yield Row(row["file"], "code", row["what"], needs)
