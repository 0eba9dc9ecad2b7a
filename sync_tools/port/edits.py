"""From the outcomes of the files to what the two commits change."""

from collections.abc import Iterable, Iterator, Mapping

from sync_tools.outcome import FileOutcome
from sync_tools.tree import Blob, Tree

Edits = dict[str, Blob | None]


def mechanical_edits(outcomes: Iterable[FileOutcome], tree: Tree) -> Edits:
    """What the first commit changes: all of upstream's change that touches nothing that the fork edited."""
    return _edits(((o, o.mechanical) for o in outcomes), tree)


def final_edits(outcomes: Iterable[FileOutcome], tree: Tree) -> Edits:
    """What both commits together change, files of the port alone."""
    return _edits(((o, o.final) for o in outcomes), tree)


def _edits(results: Iterator[tuple[FileOutcome, Blob | None]], tree: Tree) -> Edits:
    wanted: Edits = {}
    for outcome, blob in sorted(
        results, key=lambda result: result[1] is not None
    ):  # another file may come where one goes
        if outcome.disposition in ("dropped", "owned", "absent", "present"):
            continue
        if outcome.old_path and blob is not None:
            wanted.setdefault(outcome.old_path, None)
        wanted[outcome.path] = blob
    return without_noops(wanted, tree)


def without_noops(edits: Mapping[str, Blob | None], tree: Tree) -> Edits:
    """The edits that change something."""
    return {path: blob for path, blob in edits.items() if tree.blob(path) != blob}
