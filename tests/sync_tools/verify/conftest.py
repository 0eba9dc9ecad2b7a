"""Trees of a few files, and the findings of one check on them."""

from collections.abc import Callable, Mapping
from textwrap import dedent

import pytest

from sync_tools.config import Config
from sync_tools.tree import Blob, MemoryTree
from sync_tools.verify.model import Check, Context, packages_of
from sync_tools.verify.run import run as verify

Files = Mapping[str, str | bytes]


def tree_of(files: Files) -> MemoryTree:
    return MemoryTree({p: Blob(c if isinstance(c, bytes) else dedent(c).encode()) for p, c in files.items()})


@pytest.fixture
def make_context() -> Callable[..., Context]:
    """A context from files by path: `before` (default: none) and `after`; what differs is touched."""

    def build(
        after: Files, before: Files | None = None, upstream: Files | None = None, config: Config | None = None, **more
    ) -> Context:
        tree, base = tree_of(after), tree_of(before or {})
        config = config or Config()
        touched = {p for p in tree.files.keys() | base.files.keys() if tree.blob(p) != base.blob(p)}
        images = {p: b.data for p, b in tree_of(upstream or {}).files.items()}
        if "upstream_tree" in more:
            more["upstream_tree"] = tree_of(more["upstream_tree"])
        return Context(
            tree=tree,
            base=base,
            upstream=images,
            touched=more.pop("touched", frozenset(touched)),
            packages=packages_of(config, tree) or (config.fork,),
            seam=config.seam.module,
            config=config,
            **more,
        )

    return build


@pytest.fixture
def check(make_context) -> Callable[..., Check]:
    """One check's answer about files."""

    def run(name: str, after: Files, before: Files | None = None, **more) -> Check:
        result = verify(make_context(after, before, **more))[name]
        assert not result.reason.startswith("the check stopped"), result.reason
        return result

    return run


@pytest.fixture
def found(check) -> Callable[..., list[tuple[str, int, str]]]:
    """(path, line, rule) of what one check finds introduced."""

    def run(name: str, after: Files, before: Files | None = None, **more) -> list[tuple[str, int, str]]:
        findings = check(name, after, before, **more).findings
        return [(f.path, f.line, f.rule) for f in findings if f.origin == "introduced"]

    return run
