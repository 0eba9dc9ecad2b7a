"""CI rows of upstream's that find no place in the fork's matrix, and debt that is upstream's own."""

import json
from pathlib import Path

TEMPLATE = ".github/workflows/pr-test.yml.j2"
TEST = "test_qwen3_4B_streaming_partial_rollout.py"


def without_job(fork: Path, git, sync, job: str, upstream: Path) -> None:
    """The fork calls the job otherwise and gave it rows of its own."""
    template = fork / TEMPLATE
    text = template.read_text()
    start = text.index(f"'{job}'")
    end = text.index("\n    },\n", start) + len("\n    },\n")
    template.write_text(text[:start].rstrip(" ") + text[end:])
    sync("ci", "render", repo=fork, upstream=upstream)
    git(fork, "commit", "-qam", "Fewer jobs")


def test_a_row_without_a_place_is_an_open_entry(sync, imported, upstream, git):
    fork = imported(1921)
    without_job(fork, git, sync, "e2e-test-megatron", upstream)
    answer = sync("port", 1921, "--json", repo=fork, upstream=upstream)
    [port] = json.loads(answer.out)["ports"]
    assert answer.code == 1 and port["status"] in ("unresolved", "failed")
    assert port["ci"]["added"] == [] and port["entries"]["absent"] == 1
    assert [(row["test_file"], row["change"]) for row in port["ci"]["unplaced"]] == [(TEST, "added")]
    shown = json.loads(sync("ledger", "show", 1921, "--json", repo=fork, upstream=upstream).out)["ledger"]
    [entry] = [e for e in shown["entries"] if e["op"] == "absent"]
    assert entry["state"] == "open" and entry["upstream"]["path"] == TEMPLATE
    assert TEST in entry["reason"] and "no job e2e-test-megatron" in entry["reason"]
    assert f"no place for {TEST}" in sync("port", 1921, "--dry-run", repo=fork, upstream=upstream).out
    checked = json.loads(sync("ledger", "check", 1921, "--json", repo=fork, upstream=upstream).out)
    assert checked["problems"] == []
