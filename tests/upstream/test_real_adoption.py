"""The real upstream: an import, and one with the first hundred landings in it, are adopted without a difference."""

import json
from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree

CUTOFF, TIP = "8ef1fb47e", "624b824a8"


@pytest.mark.upstream
@pytest.mark.parametrize("landings", [0, 100])
def test_what_is_imported_is_there_and_nothing_else_is(landings, sync, slime, tmp_path: Path):
    repo = Repo.open(Path(slime))
    window = repo.line("rev-list", "--first-parent", "--reverse", f"{CUTOFF}..{TIP}").split("\n")
    at = window[landings - 1] if landings else CUTOFF
    import_tree(repo, at, tmp_path / "vime", Config())
    words = ("init", "--json", "--dry-run", "--cutoff", CUTOFF, "--tip", TIP)
    told = json.loads(sync(*words, repo=tmp_path / "vime", upstream=slime).out)
    assert (told["overlays"], told["moved"], told["own_files"]) == ([], [], 0)
    here, behind = told["prs"][:landings], told["prs"][landings:]
    assert {row["state"] for row in behind} <= {"absent", "skipped", "reverted"}
    assert "absent" not in {row["state"] for row in here}
    assert sum(row["state"] == "partly" for row in here) <= 3
