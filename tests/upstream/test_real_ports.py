"""The three pull requests of the first milestone, ported onto trees imported at their parents."""

import json
import subprocess

import pytest

PORTS = {
    1921: ("35e8767f94b4742ebbb722ae5e901ca29c0f967e", (314 - 1, 1)),
    1920: ("f0bce74ae8ea3f06c13145f4adf8263980a4d0e1", (594, 433)),
    1861: ("41dc3b6d21d3c75b212965077a1cc4117932f06d", (57, 8)),
}


@pytest.mark.upstream
@pytest.mark.parametrize("number", PORTS)
def test_a_real_pull_request_is_clean_or_waits_for_images_alone(number, sync, slime, parent_import):
    commit, (added, removed) = PORTS[number]
    fork = parent_import(commit)
    value = json.loads(sync("port", number, "--json", repo=fork, upstream=slime).out)
    [port] = value["ports"]
    assert port["upstream_commit"] == commit and port["conflicts"] == port["absent"] == []
    assert port["lines"] == {"added": added, "removed": removed, "accounted": added + removed}
    if number == 1921:
        assert port["status"] == "unresolved"
        assert ["image_data" in site["what"] for site in port["unresolved"]] == [True]
    else:
        assert port["status"] == "clean"
    assert sync("ledger", "check", number, repo=fork, upstream=slime).code == 0


@pytest.mark.upstream
def test_the_flags_of_the_streaming_test(sync, slime, parent_import):
    fork = parent_import(PORTS[1921][0])
    sync("port", 1921, repo=fork, upstream=slime)
    path = "tests/test_qwen3_4B_streaming_partial_rollout.py"
    text = subprocess.run(
        ["git", "-C", str(fork), "show", f"sync/slime-pr-1921:{path}"], capture_output=True, text=True, check=True
    ).stdout
    for flag in (
        "--vllm-gpu-memory-utilization 0.8",
        "--vllm-max-cudagraph-capture-size 32",
        "--vllm-max-num-seqs 512",
    ):
        assert flag in text
    assert "sglang" not in text and "enable-metrics" not in text
    ledger = json.loads(sync("ledger", "show", 1921, "--json", repo=fork, upstream=slime).out)["ledger"]
    [dropped] = [e for e in ledger["entries"] if e["op"] == "dropped"]
    assert dropped["upstream"]["path"] == path and dropped["added"] == 1
