"""All leftovers of a tree, in one pass."""

from collections.abc import Callable, Iterator

from sync_tools.config import Config
from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.tree import Tree
from sync_tools.verify.leftovers import Leftover, leftovers, names, own
from sync_tools.verify.source import Source


def census(tree: Tree, config: Config, wanted: Callable[[str], bool] = lambda path: True) -> Iterator[Leftover]:
    """The leftovers of the fork's files, by path; its ledgers and what configures this tool speak of upstream by right."""
    words = names(config)
    if words is None:
        return
    for path in sorted(tree.paths()):
        if not wanted(path) or own(config, path):
            continue
        blob = tree.blob(path)
        fit = blob is not None and blob.mode in (REGULAR, EXECUTABLE) and len(blob.data) <= config.size_limit
        if blob is not None and fit and b"\0" not in blob.data[:8000]:
            yield from leftovers(Source(path, blob.data), words, config)
