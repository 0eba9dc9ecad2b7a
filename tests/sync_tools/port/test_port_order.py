"""A stack is ported in the order in which its changes are named, however each one is named."""

import json
import re

import pytest


@pytest.fixture
def newest(upstream, git) -> list[tuple[str, str]]:
    """(commit, number) of upstream's four newest numbered changes, oldest first."""
    log = git(upstream, "log", "--first-parent", "--reverse", "--format=%H %s").splitlines()
    found = [(line[:40], number[1]) for line in log if (number := re.search(r"\(#(\d+)\)$", line))]
    return found[-4:]


WAYS = {
    "commits around a number": ("--commit {0} {n1} {2} {n3}", [0, 1, 2, 3]),
    "the other way round": ("{n3} --commit={2} {1} --commit {0}", [3, 2, 1, 0]),
    "several commits after the option": ("--commit {1} {0} --commit {2} #{n3}", [1, 0, 2, 3]),
}


@pytest.mark.parametrize("way", WAYS)
def test_numbers_and_commits_keep_their_order(way, sync, imported, upstream, newest):
    words, order = WAYS[way]
    numbers = {f"n{n}": number for n, (_, number) in enumerate(newest)}
    words = words.format(*(commit for commit, _ in newest), **numbers).split()
    fork = imported(int(newest[0][1]))
    value = json.loads(sync("port", *words, "--as", "all", "--dry-run", "--json", repo=fork, upstream=upstream).out)
    assert [port["upstream_commit"] for port in value["ports"]] == [newest[n][0] for n in order]
    assert [port["pr"] is None for port in value["ports"]] == [f"n{n}" not in WAYS[way][0] for n in order]
