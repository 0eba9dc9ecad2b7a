"""A fork's commits as its ledgers ask for them: which wrote a ledger, which made its port, what the fork was before it.

The whole history is read by three runs of git, however many ledgers there are.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.ledger.model import Ledger, Target
from sync_tools.ledger.shelf import Shelf
from sync_tools.tree import Tree

NOW = ""
"""The commit that the checkout would be."""
NAMES = re.compile(r"Upstream-Commit: ([0-9a-f]{40})")


class History:
    """The commits of a fork up to `tip`, and the checkout on top of them."""

    def __init__(self, repo: Repo, config: Config, tip: str, now: Tree) -> None:
        self._repo, self._config, self._tip = repo, config, tip
        self._trees: dict[str, Tree] = {NOW: now}

    def tree(self, commit: str) -> Tree:
        return self._trees.setdefault(commit, self._repo.tree(commit))

    def place(self, commit: str) -> int:
        """How many commits come before one."""
        return self._places.get(commit, 0)

    def versions(self, path: str, ledger: Ledger, shelf: Shelf) -> list[tuple[str, Ledger | None]]:
        """The ledger file as each commit left it, newest first, the checkout before them where it differs."""
        found = [(commit, self._ledger(oid, path, shelf)) for commit, oid in self._written.get(path, ())]
        return found if found and found[0][1] == ledger else [(NOW, ledger), *found]

    def _ledger(self, oid: str, path: str, shelf: Shelf) -> Ledger | None:
        try:
            return shelf.loads(self._repo.read(oid), path) if oid.strip("0") else None
        except SyncError:
            return None

    def port(self, commits: list[str], upstream: str) -> str | None:
        """The last commit of the port: the newest that wrote the ledger and names the upstream commit. Who wrote the
        file later made no port; where none names it, the first one did."""
        return next((c for c in commits if self._names(c, upstream)), commits[-1] if commits else None)

    def before(self, port: str, upstream: str) -> str | None:
        """The fork before the port, of two commits or squashed into one."""
        parent = self._parents.get(port)
        return self._parents.get(parent) if parent and self._names(parent, upstream) else parent

    def _names(self, commit: str, upstream: str) -> bool:
        return upstream in self._named.get(commit, ())

    @cached_property
    def _parents(self) -> dict[str, str | None]:
        """Commit -> its first parent, in the order of history."""
        out = self._repo.line("rev-list", "--reverse", "--topo-order", "--parents", self._tip)
        lines = (line.split(" ") for line in out.split("\n"))
        return {commit: parents[0] if parents else None for commit, *parents in lines}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {commit: at for at, commit in enumerate([*self._parents, NOW])}

    @cached_property
    def _named(self) -> dict[str, set[str]]:
        """Commit -> the upstream commits that its message names."""
        out = self._repo.run("log", "-z", "-F", "--grep=Upstream-Commit: ", "--format=%H%n%B", self._tip)
        records = (record for record in out.decode("utf-8", "replace").split("\0") if record)
        return {record[:40]: set(NAMES.findall(record)) for record in records}

    @cached_property
    def _written(self) -> dict[str, list[tuple[str, str]]]:
        """Path of a ledger -> the commits that wrote it, newest first, with the blob that each left. A merge counts where
        it has neither parent's."""
        out = self._repo.line(
            "log", "-c", "--raw", "--no-abbrev", "--no-renames", "--format=%H", self._tip, "--", self._config.ledgers
        )
        found: dict[str, list[tuple[str, str]]] = {}
        commit = ""
        for line in filter(None, out.split("\n")):
            if not line.startswith(":"):
                commit = line
                continue
            told, _, path = line.partition("\t")
            found.setdefault(path, []).append((commit, told.split(" ")[-2]))
        return found


def written_at(versions: Sequence[tuple[str, Ledger | None]]) -> str:
    """The commit at whose tree the ranges of the newest version were taken.

    `versions` are the commits that wrote the ledger file, newest first, with the ledger as each left it (None where it
    cannot be read). Decisions and evidence that were added later leave the ranges where they were.
    """
    newest, places = versions[0][0], _places(versions[0][1])
    for commit, ledger in versions:
        if ledger is None or _places(ledger) != places:
            break
        newest = commit
    return newest


def _places(ledger: Ledger | None) -> dict[str, Target] | None:
    return None if ledger is None else {e.id: e.downstream for e in ledger.entries}
