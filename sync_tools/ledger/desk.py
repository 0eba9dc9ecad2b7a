"""Ledgers where they lie: in the checkout, or on the branch of their port; and back into the checkout."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sync_tools.config import Config
from sync_tools.configfile import write_atomically
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.ledger import store
from sync_tools.ledger.history import written_at
from sync_tools.ledger.landing import Landing
from sync_tools.ledger.markdown import index, render
from sync_tools.ledger.model import Ledger
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
        return WorkTree(self.repo) if self.repo.work_tree else self.repo.tree("HEAD")

    def find(self, number: str) -> tuple[Ledger, Tree]:
        """A ledger and the tree that it stands in: the checkout, else the branch of its port. Raises SyncError."""
        stem = store.stem_of(self.config, number)
        here = self.here()
        if here.blob(store.json_path(self.config, stem)):
            return store.read(here, self.config, number), here
        name = stem.removeprefix(f"{self.config.upstream.name}-")
        branch = f"sync/{self.config.upstream.name}-{'pr-' if len(name) < 12 else ''}{name}"
        if self.repo.commit_of(f"refs/heads/{branch}"):
            tree = self.repo.tree(f"refs/heads/{branch}")
            return store.read(tree, self.config, number), tree
        raise SyncError(
            "there is no ledger of this change",
            f"{store.json_path(self.config, stem)}, branch {branch}",
            f"vime-sync port {number}",
        )

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
        """The ledgers of HEAD (or of one number's branch), each with the fork around its port; in the order of their commits."""
        tip = self._tip(number)
        tree = self.repo.tree(tip)
        ledgers = (store.read(tree, self.config, number),) if number else store.read_all(tree, self.config)
        places = {c: i for i, c in enumerate(self.repo.line("rev-list", "--reverse", "--topo-order", tip).split("\n"))}
        return sorted((self._landing(x, tip, places) for x in ledgers), key=lambda x: x.port_at)

    def head(self, number: str | None) -> Tree:
        return self.repo.tree(self._tip(number))

    def _tip(self, number: str | None) -> str:
        stem = store.stem_of(self.config, number) if number else None
        if stem is None or self.repo.tree("HEAD").blob(store.json_path(self.config, stem)):
            return self.repo.line("rev-parse", "HEAD")
        name = stem.removeprefix(f"{self.config.upstream.name}-")
        branch = f"refs/heads/sync/{self.config.upstream.name}-{'pr-' if len(name) < 12 else ''}{name}"
        commit = self.repo.commit_of(branch)
        if commit is None:
            raise SyncError(
                "there is no ledger of this change", store.json_path(self.config, stem), f"vime-sync port {number}"
            )
        return commit

    def _landing(self, ledger: Ledger, tip: str, places: Mapping[str, int]) -> Landing:
        path = store.json_path(self.config, ledger.upstream.stem)
        commits = [c for c in self.repo.line("log", "--format=%H", tip, "--", path).split("\n") if c]
        written = written_at([(commit, self._at(commit, path)) for commit in commits])
        port = self._port(commits, ledger.upstream.commit)
        before = self._before(port, ledger.upstream.commit)
        return Landing(
            path,
            ledger,
            written=self.repo.tree(written),
            before=self.repo.tree(before) if before else None,
            ported=self.repo.tree(port),
            port_at=places.get(port, 0),
            written_at=places.get(written, 0),
        )

    def _at(self, commit: str, path: str) -> Ledger | None:
        blob = self.repo.tree(commit).blob(path)
        try:
            return store.loads(blob.data, path) if blob else None
        except SyncError:
            return None

    def _port(self, commits: list[str], upstream: str) -> str:
        """The last commit of the port: the newest that wrote the ledger and names the upstream commit. Who wrote the
        file later made no port; where none names it, the first one did."""
        return next((c for c in commits if self._names(c, upstream)), commits[-1])

    def _before(self, port: str, upstream: str) -> str | None:
        """The fork before the port, of two commits or squashed into one."""
        parent = self.repo.commit_of(f"{port}^")
        return self.repo.commit_of(f"{parent}^") if parent and self._names(parent, upstream) else parent

    def _names(self, commit: str, upstream: str) -> bool:
        return f"Upstream-Commit: {upstream}" in self.repo.line("log", "-1", "--format=%B", commit)
