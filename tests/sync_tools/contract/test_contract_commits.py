"""What a port leaves in git: branches, subjects, trailers, files; bare commits, several landings, generated and large files."""

import subprocess

import pytest

TEMPLATE, WORKFLOW = ".github/workflows/pr-test.yml.j2", ".github/workflows/pr-test.yml"


def message(git, fork, rev):
    """A commit's subject and its trailers."""
    trailers = git(fork, "log", "-1", "--format=%(trailers:only,unfold)", rev).splitlines()
    return git(fork, "log", "-1", "--format=%s", rev), trailers


def land(git, upstream, tmp_path, subject, files):
    """A copy of upstream with one more commit."""
    copy = tmp_path / "slime"
    if not copy.exists():
        subprocess.run(["git", "clone", "-q", str(upstream), str(copy)], check=True)
    for path, content in files.items():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(content)
    git(copy, "add", "--all")
    git(copy, "commit", "-q", "--author", "Uma Stream <uma@example.org>", "--date", "1700000000 +0100", "-m", subject)
    git(copy, "update-ref", "refs/remotes/origin/main", "HEAD")
    return copy, git(copy, "rev-parse", "HEAD")


def test_two_commits_with_trailers_and_full_references(ported, upstream, git, landed):
    commits = git(ported, "rev-list", "main..sync/slime-pr-1921").splitlines()
    assert len(commits) == 2
    author = git(upstream, "log", "-1", "--format=%an <%ae>", landed(1921))
    for commit in commits:
        subject, trailers = message(git, ported, commit)
        assert "THUDM/slime#1921" in subject and " #1921" not in subject and "(#1921" not in subject
        assert trailers == [
            "Upstream-PR: THUDM/slime#1921",
            f"Upstream-Commit: {landed(1921)}",
            f"Co-authored-by: {author}",
            "Signed-off-by: Ada Maintainer <ada@example.org>",
        ]
    adaptation, mechanical = commits
    form = "--format=%an %ae %ad"
    assert git(ported, "log", "-1", form, mechanical) == git(upstream, "log", "-1", form, landed(1921))
    assert git(ported, "log", "-1", "--format=%ae", adaptation) == "ada@example.org"
    changed = git(ported, "show", "--format=", "--name-only", adaptation).splitlines()
    assert {"ledgers/slime-1921.json", "ledgers/slime-1921.md", "ledgers/README.md", WORKFLOW} <= set(changed)
    assert WORKFLOW not in git(ported, "show", "--format=", "--name-only", mechanical)


def test_a_bare_commit_has_its_hex_where_a_number_stands(ask, imported, git, landed):
    fork, commit = imported(1921), landed(1921)
    code, value = ask("port", "--commit", commit[:10], repo=fork)
    (port,) = value["ports"]
    assert code == 0 and value["branch"] == f"sync/slime-{commit[:12]}"
    assert (port["pr"], port["ledger"]) == (None, f"ledgers/slime-{commit[:12]}.json")
    for rev in ("", "~"):
        subject, trailers = message(git, fork, value["branch"] + rev)
        assert not any(line.startswith("Upstream-PR") for line in trailers)
        assert f"Upstream-Commit: {commit}" in trailers and f"THUDM/slime@{commit[:12]}" in subject
    git(fork, "switch", "-q", value["branch"])
    for name in (commit[:12], commit):
        assert ask("ledger show", name, repo=fork)[0] == 0
        assert ask("ledger check", name, repo=fork)[1]["ledgers"] == 1


def test_a_bare_commit_that_waits_is_found_by_any_name_of_its(ask, handwritten, landed):
    commit = landed(1920)
    assert ask("port", "--commit", commit[:9], repo=handwritten)[1]["worktree"]
    code, value = ask("port", "--commit", commit[:9], "--continue", repo=handwritten)
    assert code == 2 and "no port is waiting" not in value["error"]["what"]
    assert ask("port", "--commit", commit[:9], "--abort", repo=handwritten)[0] == 0


def test_of_several_landings_the_last_is_ported_and_the_others_are_named(ask, sync, imported, upstream, git, tmp_path):
    fork, files = imported(1921), {"slime/utils/late.py": "LATE = 1\n"}
    _, first = land(git, upstream, tmp_path, "Late (#4001)", files)
    copy, second = land(git, upstream, tmp_path, "Late again (#4001)", {"slime/utils/later.py": "LATER = 1\n"})
    _, value = ask("port", 4001, repo=fork, upstream=copy)
    (port,) = value["ports"]
    assert port["upstream_commit"] == second and port["other_landings"] == [first]
    shown = ask("ledger show", 4001, repo=fork, upstream=copy)[1]
    assert shown["ledger"]["upstream"]["other_landings"] == [first]
    assert first[:12] in sync("port", 4001, "--dry-run", repo=fork, upstream=copy).out


def test_the_number_is_the_last_at_the_end_of_the_subject(ask, imported, upstream, git, tmp_path):
    files = {"slime/utils/late.py": "LATE = 1\n"}
    copy, commit = land(git, upstream, tmp_path, "Back (#12), as told in (#4002) (#4003)", files)
    fork = imported(1921)
    assert ask("port", 4002, repo=fork, upstream=copy)[0] == 2
    code, value = ask("port", 4003, repo=fork, upstream=copy)
    assert code == 0 and value["ports"][0]["upstream_commit"] == commit
    subject = git(fork, "log", "-1", "--format=%s", f"{value['branch']}~")
    assert subject == "Back (THUDM/slime#12), as told in (THUDM/slime#4002) (THUDM/slime#4003)"


def test_a_generated_file_is_made_again_and_never_merged(ask, imported, git):
    fork = imported(1921)
    workflow = fork / WORKFLOW
    head, body = workflow.read_text().split("jobs:", 1)
    workflow.write_text(head + "jobs:" + body.replace("runs-on", "runs-on  ").replace("num_gpus", "number_gpus"))
    git(fork, "commit", "-qam", "by hand")
    code, value = ask("port", 1921, repo=fork)
    assert code == 0 and value["ports"][0]["conflicts"] == [] and value["ports"][0]["entries"]["generated"] == 1
    git(fork, "switch", "-q", value["branch"])
    assert ask("ci render", repo=fork)[1]["written"] == [] and "number_gpus" not in workflow.read_text()


@pytest.mark.parametrize("limit", [10, 5_000_000])
def test_a_file_over_the_limit_is_carried_as_bytes(ask, imported, upstream, git, tmp_path, limit):
    text = "import slime  # of some length\n"
    copy, _ = land(git, upstream, tmp_path, "Large (#4004)", {"tests/large_fixture.py": text})
    config = tmp_path / "small.toml"
    config.write_text(f"schema = 1\nsize_limit = {limit}\n")
    fork = imported(1921)
    _, value = ask("port", 4004, repo=fork, upstream=copy, config=config)
    came = git(fork, "show", f"{value['branch']}:tests/large_fixture.py") + "\n"
    assert came == (text if limit == 10 else text.replace("slime", "vime"))


def test_an_import_is_one_commit_that_names_upstreams(ask, upstream, tmp_path, git):
    fork = tmp_path / "fork"
    _, value = ask("import", at="main", to=fork, repo=tmp_path)
    assert git(fork, "rev-list", "--count", "--all") == "1" and git(fork, "status", "--porcelain") == ""
    assert f"Upstream-Commit: {value['upstream_commit']}" in message(git, fork, "HEAD")[1]


@pytest.mark.parametrize("folder", [".", "one", "one/two/three"])
def test_an_import_into_a_folder_of_a_repository_writes_files_alone(ask, tmp_path, git, folder):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "commit", "-q", "--allow-empty", "-m", "ours")
    _, value = ask("import", at="main", to=outer / folder, repo=tmp_path)
    assert value["files"] and git(outer, "rev-list", "--count", "--all") == "1"
    assert (outer / folder / "vime").is_dir() and (folder == "." or not (outer / folder / ".git").exists())


def test_an_import_refuses_what_is_in_the_way_before_it_writes(ask, tmp_path, git):
    outer = tmp_path / "outer"
    (outer / "vime/utils/types.py").mkdir(parents=True)
    git(outer, "init", "-q")
    code, _ = ask("import", at="main", to=outer, repo=tmp_path)
    assert code == 2 and [p.name for p in outer.iterdir() if p.name != ".git"] == ["vime"]
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("")
    assert ask("import", at="main", to=full, repo=tmp_path)[0] == 2
