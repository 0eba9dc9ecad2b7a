"""On the real upstream: the units of a commit hold what `git diff --numstat` counts, file by file."""

import os
from pathlib import Path

import pytest

from sync_tools.gitio import Repo
from sync_tools.ledger.units import partition
from sync_tools.upstream.collect import collect
from sync_tools.upstream.resolve import bare_commit

DIFF = ("diff", "--numstat", "-z", "--no-renames", "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv")
COMMITS = 20
UPSTREAM = os.environ.get("SYNC_UPSTREAM", "")


@pytest.mark.upstream
@pytest.mark.skipif(not UPSTREAM, reason="SYNC_UPSTREAM names no clone of the upstream")
def test_units_hold_what_numstat_counts() -> None:
    repo = Repo.open(Path(UPSTREAM))
    for commit in repo.line("rev-list", "--first-parent", f"--max-count={COMMITS}", "HEAD").split("\n"):
        changes = collect(repo, bare_commit(repo, commit))
        units = {f.path: partition(f, commit) for f in changes.files if f.kind != "renamed"}
        sums = {p: (sum(u.hunk.new_count for u in us), sum(u.hunk.old_count for u in us)) for p, us in units.items()}
        counted = dict(_numstat(repo, commit))
        assert {p: counted[p] for p in sums} == sums


def _numstat(repo: Repo, commit: str) -> list[tuple[str, tuple[int, int]]]:
    rows = [row.split("\t") for row in repo.line(*DIFF, f"{commit}^", commit).split("\0") if row]
    return [(path, (int(added.replace("-", "0")), int(removed.replace("-", "0")))) for added, removed, path in rows]
