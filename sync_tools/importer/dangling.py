"""Links of upstream's documents that lead to what the import left out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import dirname, join, normpath

from sync_tools.importer.tree import Dropped, Unresolved
from sync_tools.paths import folders_of, parents

LINK = re.compile(r"\]\(\s*<?(?!\w+:|#|/)([^)#\s>]+)")


def dangling(sources: Mapping[str, bytes], dropped: Sequence[Dropped]) -> Iterator[Unresolved]:
    """The relative links of Markdown to a dropped file, or to a folder of which nothing came, at their lines."""
    gone = _places(sources, dropped)
    for path in sorted(p for p in sources if gone and p.endswith(".md")):
        for number, line in enumerate(sources[path].decode("utf-8", "replace").split("\n"), 1):
            for link in LINK.findall(line):
                reason = gone.get(normpath(join(dirname(path), link)))
                if reason is not None:
                    yield Unresolved(path, number, link, f"leads to what was dropped: {reason}")


def _places(sources: Mapping[str, bytes], dropped: Sequence[Dropped]) -> dict[str, str]:
    """Dropped files, and folders that hold nothing else, with the reason."""
    kept = folders_of(sources)
    found = {folder: d.reason for d in dropped for folder in parents(d.path) if folder not in kept}
    return found | {d.path: d.reason for d in dropped}
