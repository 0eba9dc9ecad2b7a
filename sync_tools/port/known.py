"""What the fork's own history says of upstream: where it began, and what was ported since (by trailers and ledgers)."""

from dataclasses import dataclass

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.ledger import store


@dataclass(frozen=True)
class Known:
    """`cutoff` is the commit of upstream that the fork was imported at or adopted from, None where nothing says it;
    `commits` are upstream's commits that the fork has by a trailer or a ledger, `prs` the numbers of those with one."""

    cutoff: str | None
    commits: frozenset[str]
    prs: frozenset[int]

    def has(self, pr: int | None, commit: str) -> bool:
        """Whether a landing of upstream's is in the fork, by name."""
        return commit in self.commits or (pr is not None and pr in self.prs)


def known(fork: Repo, base: str, config: Config) -> Known:
    """What commit `base` of the fork knows. The cutoff is the one of sync.toml, else that of the import at the root."""
    out = fork.run("log", "-z", "--format=%P%x01%(trailers:key=Upstream-Commit,valueonly,separator=%x02)", base)
    imported, commits = None, set()
    for record in filter(None, out.decode("utf-8", "replace").split("\0")):
        parents, _, named = record.partition("\x01")
        found = [value.strip() for value in named.split("\x02") if value.strip()]
        if not parents.strip() and found:
            imported = found[-1]
        else:
            commits |= set(found)
    ledgers = store.read_all(fork.tree(base), config)
    commits |= {x.upstream.commit for x in ledgers}
    prs = {x.upstream.pr for x in ledgers if x.upstream.pr is not None}
    return Known(config.upstream.cutoff or imported, frozenset(commits), frozenset(prs))
