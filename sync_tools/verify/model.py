"""What a check is asked and what it answers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from sync_tools.config import Config
from sync_tools.tree import Tree
from sync_tools.verify.code import Code
from sync_tools.verify.removed import Removed, removed
from sync_tools.verify.source import Source, Sources

Result = Literal["passed", "failed", "not run"]
Origin = Literal["inherited", "introduced"]


@dataclass(frozen=True, order=True)
class Finding:
    """One place where a rule fires. `line` is 1-based; `fix` is an instruction, or empty where none is safe."""

    path: str
    line: int
    rule: str
    message: str
    fix: str = ""
    origin: Origin = "introduced"


@dataclass(frozen=True)
class Check:
    """A check's answer. `reason` says why it was not run or how it stopped; a stopped check is `failed`."""

    name: str
    result: Result
    findings: tuple[Finding, ...] = ()
    gating: bool = True
    reason: str = ""


@dataclass(frozen=True)
class Context:
    """What the checks look at.

    `tree` and `base` are the fork after and before the port; `touched` the fork's paths that the port added, changed or
    removed; `upstream` the translated after images, by the fork's paths. `reported` holds the lines of `tree` that the
    translation already lists as unresolved: they are not found a second time.

    `upstream_tree` is the whole of translated upstream after the change, best translated as it is read: it is asked only
    for files with findings of the checks that look across files, to tell what upstream's own tree has wrong.
    """

    tree: Tree
    base: Tree
    upstream: Mapping[str, bytes]
    touched: frozenset[str]
    packages: tuple[str, ...]
    seam: str
    config: Config
    run_tests: bool = False
    upstream_tree: Tree | None = None
    reported: Mapping[str, frozenset[int]] = field(default_factory=dict)
    sources: Sources = field(default_factory=Sources, repr=False, compare=False)

    @cached_property
    def code(self) -> Code:
        return Code(self.tree, self.packages, self.sources, self.config.size_limit, self.config.ledgers)

    @cached_property
    def removed(self) -> tuple[Removed, ...]:
        return removed(self.code_before, self.code, self.touched)

    def mentions(self, word: str, pattern: re.Pattern[str]) -> Iterator[tuple[Source, int]]:
        """The places, outside the ledgers and the generated workflow, where a pattern that holds `word` stands."""
        ledgers = self.config.ledgers.rstrip("/") + "/"
        for source in self.code.mentioning(word):
            if not source.path.startswith(ledgers) and source.path != self.config.ci.workflow:
                for line in dict.fromkeys(source.line_at(m.start()) for m in pattern.finditer(source.text)):
                    yield source, line

    def files(self) -> list[Source]:
        """The touched files that the tree has, as text, by path."""
        found = (self.code.source(path) for path in sorted(self.touched))
        return [source for source in found if source is not None]

    @cached_property
    def code_before(self) -> Code:
        return Code(self.base, self.packages, self.sources, self.config.size_limit, self.config.ledgers)


def packages_of(config: Config, tree: Tree) -> tuple[str, ...]:
    """The fork's importable packages: its name and what begins with it (vime, vime_plugins), if they have Python."""
    tops = {p.split("/", 1)[0] for p in tree.paths() if p.endswith(".py") and "/" in p}
    return tuple(sorted(t for t in tops if t == config.fork or t.startswith(f"{config.fork}_")))
