"""Upstream renames a file about which sync.toml says something: the fork's file stays the fork's."""

import json

import pytest

OLD = "vime/rollout/filter_hub/dynamic_sampling_filters.py"
NEW = "vime/rollout/filter_hub/group_filters.py"
ELSEWHERE = "vime/rollout/filters.py"


def policed(fork, git, action, into=""):
    (fork / "sync.toml").write_text(
        f'schema = 1\n[[policies]]\nmatch = "slime/rollout/filter_hub/dynamic_sampling_filters.py"\n'
        f'action = "{action}"\nreason = "this one is ours"\n{into}'
    )
    git(fork, "add", "-A")
    git(fork, "commit", "-qm", "Ours")
    return fork


@pytest.mark.parametrize("edit", ["", "\n\nOURS = 1\n"])
def test_a_file_that_the_fork_owns_stays_where_it_is_when_upstream_renames_its_own(edit, sync, imported, upstream, git):
    fork = imported(1930)
    (fork / OLD).write_text((fork / OLD).read_text() + edit)
    policed(fork, git, "owned")
    before = git(fork, "show", f"HEAD:{OLD}")
    told = json.loads(sync("port", 1930, "--json", repo=fork, upstream=upstream).out)
    assert git(fork, "show", f"{told['branch']}:{OLD}") == before
    assert NEW not in git(fork, "ls-tree", "-r", "--name-only", told["branch"]).splitlines()
    assert told["ports"][0]["entries"]["diverged"] >= 1
    git(fork, "switch", "-q", told["branch"])
    assert sync("ledger", "check", repo=fork, upstream=upstream).code == 0


def test_a_file_kept_in_another_takes_the_change_there_when_upstream_renames_it(sync, imported, upstream, git):
    fork = imported(1930)
    git(fork, "mv", OLD, ELSEWHERE)
    policed(fork, git, "into", f'into = "{ELSEWHERE}"\n')
    told = json.loads(sync("port", 1930, "--json", repo=fork, upstream=upstream).out)
    names = git(fork, "ls-tree", "-r", "--name-only", told["branch"]).splitlines()
    assert ELSEWHERE in names and NEW not in names
    assert git(fork, "diff", "--numstat", f"HEAD..{told['branch']}", "--", ELSEWHERE)
    git(fork, "switch", "-q", told["branch"])
    assert sync("ledger", "check", repo=fork, upstream=upstream).code == 0
