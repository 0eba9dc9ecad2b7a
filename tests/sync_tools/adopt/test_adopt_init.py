"""`sync init --cutoff`: a fork adopted as it stands, path by path."""

import json

import pytest
import tomlkit

from sync_tools.demo.forks import parent_of


@pytest.fixture
def adopt(sync, upstream):
    def run(fork, *words):
        return sync("init", "--json", *words, cutoff=parent_of(upstream, 1861), repo=fork, upstream=upstream)

    return run


def overlays(fork):
    return {row["path"]: row["why"] for row in tomlkit.parse((fork / "sync.toml").read_text()).get("overlays", [])}


def test_an_import_differs_nowhere(adopt, imported, upstream):
    fork = imported(1861)
    told = json.loads(adopt(fork).out)
    assert (told["overlays"], told["moved"], told["own_files"]) == ([], [], 0)
    config = tomlkit.parse((fork / "sync.toml").read_text())
    assert config["upstream"]["cutoff"] == parent_of(upstream, 1861)
    assert {row["state"] for row in told["prs"]} <= {"absent", "skipped", "reverted"}


def test_ported_landings_are_no_differences(adopt, sync, imported, upstream, git):
    fork = imported(1861)
    for number in (1861, 1926):
        told = json.loads(sync("port", number, "--json", repo=fork, upstream=upstream).out)
        git(fork, "merge", "-q", "--no-edit", told["branch"])
    git(fork, "rm", "-rq", "ledgers")
    bare = git(fork, "commit-tree", git(fork, "write-tree"), "-m", "all in one")
    git(fork, "reset", "-q", "--hard", bare)
    told = json.loads(adopt(fork).out)
    assert told["overlays"] == []
    assert sorted(row["pr"] for row in told["prs"] if row["state"] == "landed") == [1861, 1926]


def test_each_edit_is_a_row_and_nothing_else_is(adopt, sync, imported, upstream, git):
    fork = imported(1861)
    misc, data = fork / "vime/utils/misc.py", fork / "vime/utils/data.py"
    misc.write_text(misc.read_text() + "\n\ndef ours(x):\n    return x * 2\n")
    git(fork, "mv", "vime/utils/data.py", "vime/utils/files_of_data.py")
    git(fork, "rm", "-q", "vime/utils/trace_utils.py")
    (fork / "OURS.md").write_text("the fork's own\n")
    git(fork, "add", "-A")
    git(fork, "commit", "-qm", "Ours")
    told = json.loads(adopt(fork).out)
    removed = git(fork, "rev-parse", "HEAD")[:12]
    assert overlays(fork) == {
        "vime/utils/misc.py": "stood so when the fork was adopted: 1 definition extra (ours)",
        "vime/utils/trace_utils.py": f"stood so when the fork was adopted: the fork removed it in {removed}",
    }
    assert told["moved"] == [{"old": "slime/utils/data.py", "new": "vime/utils/files_of_data.py"}]
    assert told["own_files"] == 1 and not data.exists()
    assert {row["who"] for row in told["overlays"]} == {"Ada Maintainer <ada@example.org>"}


def test_a_fork_that_people_wrote_keeps_what_its_sync_toml_says(adopt, sync, handwritten, upstream, git):
    before = (handwritten / "sync.toml").read_text()
    told = json.loads(adopt(handwritten).out)
    after = (handwritten / "sync.toml").read_text()
    assert all(line in after for line in before.splitlines())
    found = overlays(handwritten)
    assert {"vime/utils/http_utils.py", "vime/backends/vllm_utils/vllm_engine.py"} < set(found)
    assert "README.md" not in found and "vime/rollout/data_buffer.py" not in found
    assert sum(path.startswith("examples/retool/") for path in found) == 5
    assert [row["pr"] for row in told["prs"] if row["state"] == "partly"] == [1921]
    git(handwritten, "commit", "-qam", "Adopt")
    assert sync("status", repo=handwritten, upstream=upstream).code == 0
    again = adopt(handwritten)
    assert again.code == 2 and "adopted already" in again.err


def test_a_dry_run_prints_and_writes_nothing(adopt, imported, sync, upstream):
    fork = imported(1861)
    told = json.loads(adopt(fork, "--dry-run").out)
    assert not told["written"] and "cutoff" in told["text"]
    assert not (fork / "sync.toml").exists()


def test_a_cutoff_that_is_none_changes_nothing(sync, imported, upstream):
    fork = imported(1861)
    assert sync("init", cutoff="0" * 40, repo=fork, upstream=upstream).code == 2
    assert not (fork / "sync.toml").exists()


def test_overlays_written_in_brackets_get_rows_too(adopt, imported, git):
    fork = imported(1861)
    (fork / "sync.toml").write_text('overlays = [{ path = "docs/**", why = "our own words" }]\n')
    (fork / "vime/utils/misc.py").write_text("OURS = 1\n")
    adopt(fork)
    assert set(overlays(fork)) == {"docs/**", "vime/utils/misc.py"}
