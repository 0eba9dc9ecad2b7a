"""A tree seen as Python modules: which file a dotted name is, and what a module binds, followed through re-exports.

Everything is read from the syntax; nothing is imported. Where the syntax can't say (a star import from a third party,
a module's `__getattr__`), the answer is UNKNOWN and never MISSING.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import PurePosixPath

from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.paths import folders_of
from sync_tools.tree import Tree
from sync_tools.verify.corpus import Corpus
from sync_tools.verify.scopes import Binding
from sync_tools.verify.source import PYTHON, Source, Sources

ROOTS = ("", "src/")
ALWAYS = frozenset({"__name__", "__file__", "__doc__", "__path__", "__all__", "__dict__", "__spec__", "__package__"})


class Outcome(Enum):
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Definition:
    """Where a name is bound: the file and the one node that binds it."""

    source: Source
    node: ast.AST


@dataclass(frozen=True)
class Module:
    """A module or package; `path` is empty for a folder without `__init__.py`, `folder` for a plain module."""

    path: str
    folder: str


Resolved = Definition | Module | Outcome


class Code:
    def __init__(
        self, tree: Tree, packages: tuple[str, ...], sources: Sources, size_limit: int, ledgers: str = ""
    ) -> None:
        self._tree, self._sources, self._size_limit = tree, sources, size_limit
        self._unsearched = f"{ledgers.rstrip('/')}/" if ledgers else None
        self.packages = packages
        self._files: dict[str, Source | None] = {}
        self._options: dict[str, bool] = {}

    @cached_property
    def paths(self) -> frozenset[str]:
        return self._tree.paths()

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(folders_of(self.paths))

    def source(self, path: str) -> Source | None:
        """A regular file of text; None for links, binary files and those over the size limit."""
        if path not in self._files:
            blob = self._tree.blob(path)
            fit = blob is not None and blob.mode not in (SYMLINK, GITLINK) and len(blob.data) <= self._size_limit
            self._files[path] = self._sources.of(path, blob.data) if fit and b"\0" not in blob.data[:8000] else None
        return self._files[path]

    def module(self, dotted: str, start: str = "") -> Module | None:
        """The module of a dotted name, sought below the folder `start` or, by default, below the roots."""
        for root in (f"{start}/",) if start else ROOTS:
            stem = root + dotted.replace(".", "/")
            for path, folder in ((f"{stem}/__init__.py", stem), (f"{stem}.py", "")):
                if path in self.paths:
                    return Module(path, folder)
            if stem in self.folders:
                return Module("", stem)
        return None

    def is_ours(self, dotted: str) -> bool:
        return dotted.split(".", 1)[0] in self.packages

    def member(self, module: Module, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> Resolved:
        """What `name` is in a module."""
        source = self.source(module.path) if module.path else None
        if (module.path and (source is None or source.module is None)) or (module.path, name) in seen:
            return Outcome.UNKNOWN
        seen = seen | {(module.path, name)}
        if source and (found := source.bindings(source.module).get(name)):
            return self._follow(source, found, seen)
        if module.folder and (below := self.module(name, module.folder)):
            return below
        if source is None:
            return Outcome.MISSING
        if name in ALWAYS or name in _globals_of(source):
            return Outcome.UNKNOWN
        return self._through_stars(source, name, seen)

    def _follow(self, source: Source, found: list[Binding], seen: frozenset[tuple[str, str]]) -> Resolved:
        binding = found[0]
        if len(found) > 1:
            return Outcome.UNKNOWN
        if binding.alias is None:
            return Definition(source, binding.node)
        return self.imported(source, binding.node, binding.alias, seen)

    def imported(
        self, source: Source, node: ast.AST, alias: ast.alias, seen: frozenset[tuple[str, str]] = frozenset()
    ) -> Resolved:
        """What an alias of an import statement in `source` is bound to."""
        if isinstance(node, ast.ImportFrom):
            module = self.imported_from(source, node)
            return module if isinstance(module, Outcome) else self.member(module, alias.name, seen)
        dotted = alias.name if alias.asname else alias.name.split(".", 1)[0]
        found = self.module(dotted)
        return found or (Outcome.MISSING if self.is_ours(dotted) else Outcome.UNKNOWN)

    def imported_from(self, source: Source, node: ast.ImportFrom) -> Module | Outcome:
        """The module that a `from` statement names: UNKNOWN for one that is not ours."""
        if node.level:
            folder = PurePosixPath(source.path).parents
            if node.level > len(folder):
                return Outcome.MISSING
            start = str(folder[node.level - 1]).removeprefix(".")
            if not node.module:
                init = f"{start}/__init__.py" if start else "__init__.py"
                return Module(init if init in self.paths else "", start)
            return self.module(node.module, start) or Outcome.MISSING
        found = self.module(node.module) if self.is_ours(node.module) else self.sibling(source.path, node.module)
        return found or (Outcome.MISSING if self.is_ours(node.module) else Outcome.UNKNOWN)

    def is_script(self, path: str) -> bool:
        """Whether a file stands outside our packages, so that it imports its neighbours by their bare names."""
        return not any(self.is_ours(path.removeprefix(root).replace("/", ".")) for root in ROOTS)

    def sibling(self, path: str, dotted: str) -> Module | None:
        """A module found where a script looks: beside it, at the tree's top, and for a test in the folders above."""
        if not self.is_script(path) or dotted.split(".", 1)[0] in sys.stdlib_module_names:
            return None
        folders = [str(folder).removeprefix(".") for folder in PurePosixPath(path).parents]
        if not PurePosixPath(path).name.startswith(("test_", "conftest")) and len(folders) > 2:
            folders = [folders[0], folders[-1]]
        found = (self.module(dotted, folder) for folder in folders)
        return next((module for module in found if module and module.path), None)

    @cached_property
    def corpus(self) -> Corpus:
        """All of the tree's text but for patches, which are other projects' code, and ledgers, which only tell of code (and
        with a stack of ports come to outweigh it)."""
        searched = [
            path
            for path in sorted(self.paths)
            if not path.endswith((".patch", ".diff")) and not (self._unsearched and path.startswith(self._unsearched))
        ]
        sources = [self.source(path) for path in searched]
        return Corpus([source for source in sources if source is not None])

    def mentioning(self, word: str, suffixes: frozenset[str] | None = None) -> Iterator[Source]:
        """The files, by path, whose bytes hold `word`; sought as they are asked for."""
        for source in self.corpus.holding(os.fsencode(word)):
            if suffixes is None or source.suffix in suffixes:
                yield source

    def defines_option(self, flag: str) -> bool:
        """Whether some parser in the tree is given the flag as a literal."""
        if flag not in self._options:
            near = re.compile(rf"add_argument\(\s*(?:[\"'][\w-]+[\"'],\s*)*[\"']{re.escape(flag)}[\"']")
            self._options[flag] = any(near.search(s.text) for s in self.mentioning(flag, PYTHON))
        return self._options[flag]

    def _through_stars(self, source: Source, name: str, seen: frozenset[tuple[str, str]]) -> Resolved:
        for node in source.nodes(ast.ImportFrom):
            if node.names[0].name != "*":
                continue
            module = self.imported_from(source, node)
            found = module if isinstance(module, Outcome) else self.member(module, name, seen)
            if found is not Outcome.MISSING:
                return found
        return Outcome.UNKNOWN if _is_open(source) else Outcome.MISSING


def _globals_of(source: Source) -> frozenset[str]:
    """Names that functions bind in the module by `global`."""
    if "global" not in source.words:
        return frozenset()
    return frozenset(name for node in source.nodes(ast.Global) for name in node.names)


def _is_open(source: Source) -> bool:
    """Whether a module may have names that its syntax does not show."""
    return bool(source.words & {"globals", "exec", "__getattr__"}) or "sys.modules[__name__]" in source.text
