"""A stack that stops at one conflict after another: what waits is kept, through kills, second starts and new folders."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.port import paused
from sync_tools.port.fork import Fork
from sync_tools.port.request import Request
from sync_tools.port.session import Places, resume

STACK = ("port", 1880, 1920, 1926, "--as", "all")
REGION = re.compile(rb"<<<<<<<[^\n]*\n(.*?)\|\|\|\|\|\|\|[^\n]*\n.*?=======\n.*?>>>>>>>[^\n]*\n", re.S)


def value_of(answer):
    assert answer.out, answer.err
    return json.loads(answer.out)


def resolve(place: Path) -> None:
    """The fork's side of every conflict."""
    out = subprocess.run(["git", "-C", place, "ls-files", "-u", "-z"], capture_output=True, text=True, check=True)
    for path in {record.split("\t")[1] for record in out.stdout.split("\0") if record}:
        (place / path).write_bytes(REGION.sub(rb"\1", (place / path).read_bytes()))
        subprocess.run(["git", "-C", place, "add", path], check=True)


def test_a_stack_goes_on_through_conflict_after_conflict_with_what_was_asked_for_at_the_start(
    sync, handwritten, upstream, git, monkeypatch, tmp_path
):
    monkeypatch.chdir(upstream.parent)
    value = value_of(sync(*STACK, "--json", repo=handwritten, upstream=upstream.name))
    monkeypatch.chdir(tmp_path)
    stops = [value["ports"][-1]["pr"]]
    while value["worktree"]:
        assert value["branch"] is None
        resolve(Path(value["worktree"]))
        value = value_of(sync("port", "--continue", "--json", repo=handwritten))
        stops.append(value["ports"][-1]["pr"])
    assert stops == [1880, 1920, 1926, 1926]
    assert value["branch"] == "sync/slime-all"
    git(handwritten, "switch", "-q", "sync/slime-all")
    assert sync("ledger", "check", repo=handwritten, upstream=upstream).code == 0
    assert "paused" not in git(handwritten, "worktree", "list")


def test_a_kill_while_the_next_conflict_is_laid_out_keeps_what_was_resolved(sync, handwritten, upstream, monkeypatch):
    place = Path(value_of(sync(*STACK, "--json", repo=handwritten, upstream=upstream))["worktree"])
    resolve(place)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    fork = Fork(Repo.open(handwritten))
    with monkeypatch.context() as patch:
        patch.setattr(paused.json, "dumps", killed)
        state = paused.find(fork, None)
        with pytest.raises(KeyboardInterrupt):
            resume(state, state.recall(Request()), Places(Config(), Repo.open(upstream), fork))
    assert place.exists() and paused.find(fork, None) == state
    value = value_of(sync("port", "--continue", "--json", repo=handwritten, upstream=upstream))
    assert [port["pr"] for port in value["ports"]] == [1880, 1920] and value["worktree"]
    assert not place.exists() and len(list(place.parent.glob("tree*"))) == 1


def test_a_second_start_replaces_what_waits_only_where_nobody_has_worked_on_it(sync, handwritten, upstream):
    again = (*STACK, "--json")
    first = value_of(sync(*again, repo=handwritten, upstream=upstream))
    second = value_of(sync(*again, repo=handwritten, upstream=upstream))
    assert first["status"] == second["status"] == "conflicts"
    place = Path(second["worktree"])
    resolve(place)
    before = (place / "docker/README.md").read_bytes()
    refused = sync(*again, repo=handwritten, upstream=upstream)
    assert refused.code == 2 and "begun to resolve" in refused.out and "--abort" in refused.out
    assert (place / "docker/README.md").read_bytes() == before
    assert sync("port", "--continue", repo=handwritten, upstream=upstream).code == 1


def test_abort_takes_away_a_state_that_cannot_be_read(sync, handwritten, upstream, git):
    place = Path(value_of(sync(*STACK, "--json", repo=handwritten, upstream=upstream))["worktree"])
    (place.parent / "state.json").write_text("{")
    assert sync("port", "--continue", repo=handwritten, upstream=upstream).code == 2
    assert sync("port", "--abort", repo=handwritten).code == 0
    assert not place.parent.exists() and "paused" not in git(handwritten, "worktree", "list")
