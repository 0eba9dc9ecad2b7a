import ast
import runpy
import time

import pytest

from sync_tools.demo.forks import build_handwritten_fork
from sync_tools.demo.gitwriter import git
from sync_tools.demo.upstream import build_upstream, upstream_commits

CHANGES = ("-M50%", "--diff-algorithm=myers", "--no-ext-diff")


def commit_of(repo, number: int) -> str:
    log = git(repo, "log", "--first-parent", "--format=%H %s").decode().splitlines()
    return next(line.split()[0] for line in log if line.endswith(f"(#{number})"))


def name_status(repo, number: int) -> dict[str, str]:
    """Status by path (of a rename: `old => new`)."""
    commit = commit_of(repo, number)
    out = git(repo, "diff", *CHANGES, "--name-status", "-z", f"{commit}^1", commit).decode().split("\0")[:-1]
    changes = {}
    while out:
        status = out.pop(0)
        changes[" => ".join(out.pop(0) for _ in range(2 if status[0] == "R" else 1))] = status
    return changes


def numstat(repo, number: int) -> dict[str, tuple[str, str]]:
    commit = commit_of(repo, number)
    out = git(repo, "diff", "--no-renames", "--numstat", f"{commit}^1", commit).decode().splitlines()
    return {path: (added, removed) for added, removed, path in (line.split("\t") for line in out)}


@pytest.mark.parametrize("build", [build_upstream, build_handwritten_fork])
def test_it_builds_fast_and_to_the_same_hash_whatever_the_user_has_configured(build, tmp_path, monkeypatch):
    first = git(build(tmp_path / "a"), "rev-parse", "main")
    (tmp_path / ".gitconfig").write_text(
        "[core]\n\tautocrlf = true\n[user]\n\tname = Somebody\n[init]\n\tdefaultBranch = x\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    started = time.perf_counter()
    second = git(build(tmp_path / "b"), "rev-parse", "main")
    assert time.perf_counter() - started < 2
    assert first == second
    assert git(tmp_path / "b", "status", "--porcelain") == b""
    assert git(tmp_path / "b", "fsck", "--strict", "--no-dangling") == b""


def test_every_python_file_of_every_commit_parses_and_imports_what_is_there():
    for commit in upstream_commits():
        modules = {p.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for p in commit.state}
        for path, blob in commit.state.items():
            if not path.endswith(".py"):
                continue
            for node in ast.walk(ast.parse(blob.data)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("slime"):
                    assert node.module in modules, f"{path} at {commit.step.subject}: {node.module}"


def test_the_workflow_of_every_commit_is_what_upstreams_own_generator_writes(tmp_path):
    folder = ".github/workflows/"
    workflows = set()
    for commit in upstream_commits():
        for name in ("generate_github_workflows.py", "pr-test.yml.j2"):
            (tmp_path / name).write_bytes(commit.state[folder + name].data)
        runpy.run_path(str(tmp_path / "generate_github_workflows.py"))["main"](tmp_path)
        assert (tmp_path / "pr-test.yml").read_bytes() == commit.state[folder + "pr-test.yml"].data
        workflows.add(commit.state[folder + "pr-test.yml"].data)
    assert len(workflows) == 4, "#1920, #1921 and #1926 each change it"


def test_every_test_of_the_tip_is_registered_in_the_template():
    tip = upstream_commits()[-1].state
    template = tip[".github/workflows/pr-test.yml.j2"].data.decode()
    tests = [p for p in tip if p.startswith("tests/") and p.split("/")[-1].startswith("test_")]
    assert tests and all(f"'{p.removeprefix('tests/')}'" in template for p in tests)


def test_1861_hardens_one_function(upstream):
    assert name_status(upstream, 1861) == {"examples/retool/generate_with_retool.py": "M"}


def test_1920_deletes_and_adds_too_unlike_for_a_rename(upstream):
    changes = name_status(upstream, 1920)
    assert changes["slime/rollout/fully_async_rollout.py"] == "A"
    assert changes["examples/fully_async/fully_async_rollout.py"] == "D"
    assert changes["examples/fully_async/run-qwen3-4b-fully_async.sh"] == "D"
    assert changes["examples/fully_async/run-qwen2.5-0.5B-fully_async.sh"] == "A"
    assert not any(status.startswith("R") for status in changes.values())
    assert numstat(upstream, 1920)["slime/rollout/sglang_rollout.py"] == ("3", "1")
    assert numstat(upstream, 1920)[".github/workflows/pr-test.yml.j2"] == ("1", "0")


def test_1921_adds_a_stream_and_its_test_and_one_row(upstream):
    changes = name_status(upstream, 1921)
    assert changes.pop("slime/rollout/sglang_streaming_rollout.py") == "A"
    assert changes.pop("tests/test_qwen3_4B_streaming_partial_rollout.py") == "A"
    assert changes == {".github/workflows/pr-test.yml": "M", ".github/workflows/pr-test.yml.j2": "M"}
    assert numstat(upstream, 1921)[".github/workflows/pr-test.yml"] == ("1", "1")
    test = git(upstream, "show", "main:tests/test_qwen3_4B_streaming_partial_rollout.py").decode()
    for flag in ("mem-fraction-static 0.8", "cuda-graph-max-bs 32", "max-running-requests 512", "enable-metrics"):
        assert f"--sglang-{flag} " in test


def test_1930_is_a_true_rename_with_edits_and_nothing_names_the_old_path_afterwards(upstream):
    hub = "slime/rollout/filter_hub"
    status = name_status(upstream, 1930)[f"{hub}/dynamic_sampling_filters.py => {hub}/group_filters.py"]
    assert 50 <= int(status[1:]) < 100
    naming = git(upstream, "grep", "-l", "dynamic_sampling_filters", f"{commit_of(upstream, 1930)}^", "--")
    assert len(naming.splitlines()) == 3
    old = [p for c in upstream_commits()[-4:] for p, b in c.state.items() if b"dynamic_sampling_filters" in b.data]
    assert old == []


def test_1899_undoes_1887(upstream):
    before, after = f"{commit_of(upstream, 1887)}^", commit_of(upstream, 1899)
    assert git(upstream, "diff", before, after) == b""
    assert git(upstream, "diff", before, f"{after}^") != b""


def test_1880_touches_an_engine_patch_and_one_thing_else(upstream):
    assert name_status(upstream, 1880) == {"docker/README.md": "M", "docker/patch/latest/sglang.patch": "M"}


def test_1874_touches_documents_alone(upstream):
    assert set(name_status(upstream, 1874)) == {"docs/en/get_started/usage.md", "docs/zh/get_started/usage.md"}


def test_1933_has_every_kind_of_file(upstream):
    commit = commit_of(upstream, 1933)
    raw = git(upstream, "diff", "--raw", "--no-renames", "--abbrev=40", f"{commit}^", commit).decode()
    modes = {line.split("\t")[1]: line[1:14] for line in raw.splitlines()}
    assert modes["scripts/run-qwen3-4B.sh"] == "100644 100755"
    assert modes["examples/models"] == "000000 120000"
    assert modes["docs/latest"] == "120000 120000"
    assert numstat(upstream, 1933)["imgs/logo.png"] == ("-", "-")
    assert numstat(upstream, 1933)["tests/data/.keep"] == ("0", "0")
    windows = git(upstream, "show", f"{commit}:docs/en/windows.txt")
    assert windows.count(b"\r\n") == windows.count(b"\n") > 0
    assert "Jürgen".encode("latin-1") in git(upstream, "show", f"{commit}:tests/data/names.csv")
    assert git(upstream, "show", f"{commit}:docker/version.txt") == b"0.2.5-dev"


def test_1935_is_landed_by_a_merge_and_one_commit_has_no_number(upstream):
    assert len(git(upstream, "log", "-1", "--format=%P", commit_of(upstream, 1935)).split()) == 2
    assert git(upstream, "log", "-1", "--format=%s").decode().strip() == "bump version to 0.2.5"
