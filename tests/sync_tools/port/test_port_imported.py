"""Ports onto a tree that was imported: the fork has no edits of its own."""

import json
import re

import pytest

REAL = (1861, 1920, 1921)


@pytest.mark.parametrize("number", REAL)
def test_a_port_onto_an_imported_tree_is_clean_and_accounts_for_every_line(number, sync, imported, upstream, git):
    fork = imported(number)
    answer = sync("port", number, "--json", repo=fork, upstream=upstream)
    assert answer.code == 0, answer.out
    [port] = json.loads(answer.out)["ports"]
    commit = git(upstream, "log", "-1", "--format=%H", f"--grep=(#{number})", "--fixed-strings")
    numstat = git(upstream, "diff", "--numstat", "-M50%", "--diff-algorithm=myers", f"{commit}^", commit)
    added, removed = (sum(int(line.split("\t")[i]) for line in numstat.splitlines()) for i in (0, 1))
    assert port["status"] == "clean"
    assert port["upstream_commit"] == commit
    assert port["lines"] == {"added": added, "removed": removed, "accounted": added + removed}
    assert port["conflicts"] == port["unresolved"] == port["absent"] == []


def test_the_branch_has_two_commits_with_upstreams_author_and_the_trailers(sync, imported, upstream, git):
    fork = imported(1921)
    assert sync("port", 1921, repo=fork, upstream=upstream).code == 0
    log = git(fork, "log", "--format=%an|%s|%b%x00", "HEAD..sync/slime-pr-1921").split("\0")
    adaptation, mechanical = (entry.strip() for entry in log if entry.strip())
    author = git(upstream, "log", "-1", "--format=%an <%ae>", "--grep=(#1921)", "--fixed-strings")
    assert mechanical.startswith(author.split(" <")[0] + "|")
    assert adaptation.startswith("Ada Maintainer|")
    for message in (mechanical, adaptation):
        assert "Upstream-PR: THUDM/slime#1921" in message
        assert re.search(r"Upstream-Commit: [0-9a-f]{40}", message)
        assert f"Co-authored-by: {author}" in message
        assert "Signed-off-by: Ada Maintainer <ada@example.org>" in message
        assert not re.search(r"(?<!slime)#\d", message)


def test_only_the_adaptation_commit_touches_ci_and_the_ledger(sync, imported, upstream, git):
    fork = imported(1921)
    sync("port", 1921, repo=fork, upstream=upstream)
    mechanical = git(fork, "diff", "--name-only", "HEAD", "sync/slime-pr-1921^").splitlines()
    adaptation = git(fork, "diff", "--name-only", "sync/slime-pr-1921^", "sync/slime-pr-1921").splitlines()
    assert mechanical and not [p for p in mechanical if "ledger" in p or ".github" in p]
    assert "ledgers/slime-1921.json" in adaptation and ".github/workflows/pr-test.yml.j2" in adaptation


def test_the_checkout_and_the_index_stay_as_they_were(sync, imported, upstream, git):
    fork = imported(1921)
    (fork / "train.py").write_text("# my work\n")
    (fork / "new.txt").write_text("mine")
    before = git(fork, "status", "--porcelain"), git(fork, "rev-parse", "HEAD"), git(fork, "symbolic-ref", "HEAD")
    sync("port", 1921, repo=fork, upstream=upstream)
    assert (
        git(fork, "status", "--porcelain"),
        git(fork, "rev-parse", "HEAD"),
        git(fork, "symbolic-ref", "HEAD"),
    ) == before


def test_a_dry_run_says_the_same_and_writes_nothing(sync, imported, upstream, git):
    fork = imported(1921)
    before = sorted(p for p in (fork / ".git").rglob("*"))
    dry = json.loads(sync("port", 1921, "--dry-run", "--json", repo=fork, upstream=upstream).out)
    assert sorted(p for p in (fork / ".git").rglob("*")) == before
    wet = json.loads(sync("port", 1921, "--json", repo=fork, upstream=upstream).out)
    assert dry["ports"] == wet["ports"]
    assert (dry["branch"], wet["branch"]) == (None, "sync/slime-pr-1921")


def test_porting_again_gives_the_same_ledger_and_tree(sync, imported, upstream, git):
    fork = imported(1921)
    sync("port", 1921, repo=fork, upstream=upstream)
    first = git(fork, "rev-parse", "sync/slime-pr-1921^{tree}")
    assert sync("port", 1921, repo=fork, upstream=upstream).code == 0
    assert git(fork, "rev-parse", "sync/slime-pr-1921^{tree}") == first


def test_a_second_port_is_present_and_leaves_branch_and_ledger_as_they_are(sync, imported, upstream, git):
    fork = imported(1921)
    sync("port", 1921, repo=fork, upstream=upstream)
    git(fork, "merge", "-q", "sync/slime-pr-1921")
    git(fork, "branch", "-D", "sync/slime-pr-1921")
    [port] = (value := json.loads(sync("port", 1921, "--json", repo=fork, upstream=upstream).out))["ports"]
    assert (value["status"], value["branch"]) == ("present", None)
    assert "present" not in port["entries"] and port["entries"]["ported"]


def test_replaying_the_whole_history_gives_the_import_of_the_tip(sync, imports, imported, upstream, git):
    """Law 2, one pull request after another: file for file what an import of the tip gives."""
    fork = imported(1861)
    base = git(upstream, "rev-list", "--first-parent", "--reverse", "HEAD").splitlines()
    start = base.index(git(upstream, "log", "-1", "--format=%H", "--grep=(#1861)", "--fixed-strings"))
    words = [word for commit in base[start:] for word in ("--commit", commit)]
    answer = sync("port", *words, "--json", "--as", "all", repo=fork, upstream=upstream)
    value = json.loads(answer.out)
    assert [p["status"] for p in value["ports"] if p["status"] in ("failed", "conflicts")] == [], answer.out
    tip = imports("HEAD")
    paths = [":/", ":!ledgers"]
    git(fork, "fetch", "-q", str(tip), "HEAD")
    assert git(fork, "diff", "--stat", "FETCH_HEAD", "sync/slime-all", "--", *paths) == ""


def test_a_bare_commit_has_a_ledger_by_its_hex_and_no_number(sync, imported, upstream, git):
    fork = imported(1921)
    commit = git(upstream, "log", "-1", "--format=%H", "--grep=(#1921)", "--fixed-strings")
    value = json.loads(sync("port", "--commit", commit[:10], "--json", repo=fork, upstream=upstream).out)
    [port] = value["ports"]
    assert (port["pr"], value["branch"]) == (None, f"sync/slime-{commit[:12]}")
    assert port["ledger"] == f"ledgers/slime-{commit[:12]}.json"
    assert "Upstream-PR" not in git(fork, "log", "-2", "--format=%B", value["branch"])


def test_a_stack_puts_one_pull_request_on_the_other(sync, imported, upstream, git):
    fork = imported(1920)
    value = json.loads(sync("port", 1920, 1921, "--as", "two", "--json", repo=fork, upstream=upstream).out)
    assert value["branch"] == "sync/slime-two" and len(value["ports"]) == 2
    assert len(git(fork, "rev-list", "HEAD..sync/slime-two").splitlines()) == 4
