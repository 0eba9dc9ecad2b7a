"""Ledgers where they lie: in the checkout, or on the branch of their port; and back into the checkout."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.files import write_atomically
from sync_tools.gitio import Repo
from sync_tools.ledger import store
from sync_tools.ledger.history import NOW, History, written_at
from sync_tools.ledger.landing import Landing
from sync_tools.ledger.markdown import index, render
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.shelf import Shelf
from sync_tools.paths import safe_in
from sync_tools.tree import Tree
from sync_tools.worktree import WorkTree


@dataclass(frozen=True)
class Desk:
    """A fork's ledgers."""

    repo: Repo
    config: Config

    def here(self) -> Tree:
        """The checkout, or HEAD of a bare repository."""
        return WorkTree(self.repo) if self.repo.work_tree else self.repo.tree(self.repo.head())

    def find(self, number: str) -> tuple[Ledger, Tree]:
        """A ledger and the tree that it stands in: the checkout, else the branch of its port. Raises SyncError."""
        stem = store.stem_of(self.config, number)
        here = self.here()
        if here.blob(store.json_path(self.config, stem)):
            return store.read(here, self.config, number), here
        tree = self.repo.tree(self._holder(stem, number))
        return store.read(tree, self.config, number), tree

    def elsewhere(self) -> list[tuple[str, Ledger]]:
        """The ledgers that stand on branches of ports and not in the checkout, each with its branch."""
        here = self.here()
        found: dict[str, tuple[str, Ledger]] = {}
        for branch in self._branches("--no-merged=HEAD"):
            for ledger in store.read_all(self.repo.tree(branch), self.config):
                stem = ledger.upstream.stem
                missing = here.blob(store.json_path(self.config, stem)) is None
                if missing and (stem not in found or branch == self._branch(stem)):
                    found[stem] = (branch.removeprefix(HEADS), ledger)
        return sorted(found.values(), key=lambda item: (item[1].upstream.date, item[1].upstream.stem))

    def write(self, ledger: Ledger) -> list[str]:
        """Put a ledger, its Markdown and the index into the checkout; the paths written."""
        if self.repo.work_tree is None:
            raise SyncError(
                "a bare repository has no files to write", str(self.repo.git_dir), "use a clone with a work tree"
            )
        here, stem = WorkTree(self.repo), ledger.upstream.stem
        if here.blob(store.json_path(self.config, stem)) is None:
            raise SyncError(
                "the ledger is not in the checkout",
                store.json_path(self.config, stem),
                "switch to the branch of its port first",
            )
        others = [x for x in store.read_all(here, self.config) if x.upstream.stem != stem]
        texts: Mapping[str, str] = {
            store.json_path(self.config, stem): store.dumps(ledger),
            store.markdown_path(self.config, stem): render(ledger),
            store.index_path(self.config): index(store.in_order([*others, ledger])),
        }
        for path, content in texts.items():
            write_atomically(Path(self.repo.work_tree / safe_in(here, path, "the ledgers folder")), content.encode())
        return list(texts)

    def landings(self, number: str | None) -> list[Landing]:
        """All ledgers of the checkout (of the branch of `number`, where only that has its ledger), each with the fork
        around its port, in the order of the ports. What is not committed yet counts as one more commit."""
        tip = self._tip(number)
        now = self._now(tip)
        history, shelf = History(self.repo, self.config, tip, now), Shelf()
        ledgers = store.read_all(now, self.config, shelf.loads)
        return sorted((self._landing(x, history, shelf) for x in ledgers), key=lambda x: x.port_at)

    def head(self, number: str | None) -> Tree:
        """Where what the ports brought must still stand."""
        return self._now(self._tip(number))

    def _now(self, tip: str) -> Tree:
        return self.here() if tip == self.repo.commit_of("HEAD") else self.repo.tree(tip)

    def _tip(self, number: str | None) -> str:
        stem = store.stem_of(self.config, number) if number else None
        if stem is None or self.here().blob(store.json_path(self.config, stem)):
            return self.repo.head()
        return self.repo.line("rev-parse", self._holder(stem, number or ""))

    def _holder(self, stem: str, number: str) -> str:
        """The branch of a port that has the ledger: the change's own, else a stack's, the newest first. Raises SyncError."""
        path = store.json_path(self.config, stem)
        for branch in dict.fromkeys([self._branch(stem), *self._branches()]):
            if self.repo.commit_of(branch) and self.repo.tree(branch).blob(path):
                return branch
        own = self._branch(stem).removeprefix(HEADS)
        fix = f"vime-sync port {number}, or vime-sync port --continue where its conflicts wait"
        raise SyncError("there is no ledger of this change", f"{path}, branch {own}", fix)

    def _branches(self, *which: str) -> list[str]:
        """The branches of ports, the newest first."""
        prefix = f"{HEADS}sync/{self.config.upstream.name}-*"
        said = self.repo.line("for-each-ref", "--format=%(refname)", "--sort=-committerdate", *which, prefix)
        return [line for line in said.split("\n") if line]

    def _branch(self, stem: str) -> str:
        """The branch that a port of that change alone has."""
        upstream = self.config.upstream.name
        name = stem.removeprefix(f"{upstream}-")
        return f"{HEADS}sync/{upstream}-{'' if store.is_hex(name) else 'pr-'}{name}"

    def _landing(self, ledger: Ledger, history: History, shelf: Shelf) -> Landing:
        path, upstream = store.json_path(self.config, ledger.upstream.stem), ledger.upstream.commit
        versions = history.versions(path, ledger, shelf)
        written = written_at(versions)
        port = history.port([commit for commit, _ in versions if commit != NOW], upstream)
        before = history.before(port, upstream) if port else None
        return Landing(
            path,
            ledger,
            written=history.tree(written),
            before=history.tree(before) if before else None,
            ported=history.tree(port) if port else None,
            port_at=history.place(port or NOW),
            written_at=history.place(written),
        )


HEADS = "refs/heads/"
