"""What a translation leaves and breaks, counted on its files beside upstream's, whoever made it."""

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sync_tools.config import Config
from sync_tools.translate import Translator
from sync_tools.translate.kinds import profile
from sync_tools.translate.names import hinted_lines, naming
from sync_tools.translate.result import Site
from sync_tools.translate.standing import protections, standing

ENGINES = ("SY295", "SY296")
OLD, NEW = "/generate", "/inference/v1/generate"


@dataclass(frozen=True)
class Quality:
    """Counts over a tree.

    - old_names: names of upstream's project or engine that are left; `justified` of them are protected (links,
      organisations, attribution, modules without a twin, ...) or reported as unresolved by `sync`
    - protected_broken: links, references, repositories and attributions of upstream's that are not there any more
    - unparsable: Python files that no longer parse
    - endpoints: generate endpoints in Python strings that are now the other engine's, of `endpoints_upstream`
    """

    files_changed: int
    old_names: int
    justified: int
    protected_broken: int
    unparsable: int
    endpoints: int
    endpoints_upstream: int


Files = Mapping[str, bytes]
Sites = Mapping[str, tuple[Site, ...]]


def sites(upstream: Files) -> Sites:
    """What this project reports as unresolved: old names of these places are justified, whoever left them."""
    return {path: done.unresolved for path, done in Translator().files(upstream.items()).items()}


def quality(upstream: Files, made: Files, reported: Sites) -> Quality:
    texts = {
        path: (data.decode("utf-8", "replace"), made[path].decode("utf-8", "replace"))
        for path, data in upstream.items()
        if b"\0" not in data
    }
    python = {path: pair for path, pair in texts.items() if path.endswith(".py")}
    names = naming(Config())
    left = [
        name.reason
        for path, (_, after) in texts.items()
        for name in standing(after, reported[path], names, profile(path, engine=True))
    ]
    return Quality(
        files_changed=sum(made[path] != data for path, data in upstream.items()),
        old_names=len(left),
        justified=sum(reason is not None for reason in left),
        protected_broken=sum((_protected(before) - _protected(after)).total() for before, after in texts.values()),
        unparsable=sum(_tree(after) is None for _, after in python.values()),
        endpoints=sum(_endpoints(after)[NEW] for _, after in python.values()),
        endpoints_upstream=sum(_endpoints(before)[OLD] for before, _ in python.values()),
    )


def _protected(text: str) -> Counter[str]:
    """The protected spans of a text that hold an old name; the engine's own modules and packages are not among them."""
    names = naming(Config())
    return Counter(
        m[0]
        for start, end in hinted_lines(text, names.hints)
        for m in _web_and_credit().finditer(text, start, end)
        if any(hint in m[0] for hint in names.hints)
    )


@cache
def _web_and_credit() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p.pattern})" for code, p in protections(naming(Config())) if code not in ENGINES))


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _endpoints(text: str) -> Counter[str]:
    """The endpoints with which strings of code end, documentation left out."""
    tree = _tree(text)
    if tree is None:
        return Counter()
    words = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return Counter(
        NEW if w.endswith(NEW) else OLD for w in words if w.endswith(OLD) and not any(c.isspace() for c in w)
    )
