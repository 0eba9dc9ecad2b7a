"""A file that the fork moved, once or again and again, still takes upstream's changes; one it moved and then removed does not."""

import itertools
import json

import pytest

HTTP = "vime/utils/http_utils.py"


def moved(git, fork, *places):
    for old, new in itertools.pairwise(places):
        git(fork, "mv", old, new)
        git(fork, "commit", "-qm", f"Move {old}")
    return fork


@pytest.mark.parametrize("names", [("web",), ("web", "net"), ("web", "net", "client")])
def test_upstreams_edit_follows_the_file_to_its_last_name(names, sync, imported, upstream, git):
    places = [HTTP, *(f"vime/utils/{name}.py" for name in names)]
    fork = moved(git, imported(1926), *places)
    value = json.loads(sync("port", 1926, "--json", repo=fork, upstream=upstream).out)
    assert value["ports"][0]["absent"] == [] and value["ports"][0]["conflicts"] == []
    changed = git(fork, "diff", "--name-only", f"HEAD..{value['branch']}").splitlines()
    assert places[-1] in changed and HTTP not in changed


def test_a_file_moved_and_then_removed_is_absent_and_the_last_commit_is_named(sync, imported, upstream, git):
    fork = moved(git, imported(1926), HTTP, "vime/utils/web.py")
    git(fork, "rm", "-q", "vime/utils/web.py")
    git(fork, "commit", "-qm", "We use another")
    said = sync("port", 1926, repo=fork, upstream=upstream)
    assert f"absent: {HTTP}: the fork removed it in {git(fork, 'rev-parse', 'HEAD')}" in said.out
