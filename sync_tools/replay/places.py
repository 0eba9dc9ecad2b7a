"""Where a replay starts: the import in a new repository."""

from dataclasses import dataclass
from functools import cached_property

from sync_tools.config import Config
from sync_tools.gitio import GitTree, Repo


@dataclass(frozen=True)
class Start:
    """The import of `upstream_commit`, committed as `commit` in `repo`."""

    repo: Repo
    commit: str
    upstream_commit: str
    config: Config

    @cached_property
    def tree(self) -> GitTree:
        return self.repo.tree(self.commit)
