import re
import subprocess
import sys

from sync_tools.config import load
from sync_tools.demo.forks import build_imported_fork, handwritten_commits, parent_of
from sync_tools.demo.gitwriter import git
from sync_tools.demo.upstream import upstream_commits

SYNC_TRAILER = re.compile(rb"^Upstream-(PR|Commit):", re.MULTILINE)


def test_the_import_is_asked_for_at_the_parent_of_1861(upstream, tmp_path):
    asked = []
    made = build_imported_fork(upstream, tmp_path / "imported", lambda *what: asked.append(what))
    assert asked == [(upstream, parent_of(upstream, 1861), tmp_path / "imported")]
    assert made == tmp_path / "imported"
    assert git(upstream, "log", "-1", "--format=%s", asked[0][1]).decode().strip() == "Release v0.2.4 (#1858)"


def test_its_configuration_says_where_it_differs(fork):
    config = load(fork / "sync.toml")
    assert config.seam.style == "inline"
    into = {p.match: p.into for p in config.policies if p.action == "into"}
    assert all((fork / target).is_file() for target in into.values())
    tip = upstream_commits()[-1].state
    assert all(path in tip for path in into)
    assert {p.to for p in config.ci.places} == {"e2e-test-short"}
    assert (fork / config.ci.template).is_file() and (fork / config.ci.workflow).is_file()


def test_it_is_formatted_as_its_configuration_says(fork):
    for formatter in load(fork / "sync.toml").formatters:
        command = [sys.executable, "-m", formatter.name, *formatter.args, "--check", "-q", "."]
        assert subprocess.run(command, cwd=fork, capture_output=True).returncode == 0, formatter.name


def test_it_has_neither_seam_nor_trailers_nor_words_of_the_old_engine(fork):
    files = git(fork, "ls-files").decode().splitlines()
    assert not any("seam" in path for path in files)
    assert not SYNC_TRAILER.search(git(fork, "log", "--format=%B"))
    naming = {p for p in files if re.search(rb"sglang", (fork / p).read_bytes() if (fork / p).is_file() else b"", re.I)}
    assert naming == {"sync.toml"}


def test_retool_is_absent_and_one_commit_says_why(fork):
    removal = git(fork, "log", "--diff-filter=D", "--format=%H", "--", "examples/retool").decode().split()
    assert len(removal) == 1
    assert "nobody has run it" in git(fork, "log", "-1", "--format=%b", removal[0]).decode()


def test_what_upstream_moves_or_adds_is_there_already_and_was_edited(fork):
    files = set(git(fork, "ls-files").decode().splitlines())
    assert "vime/rollout/vllm_streaming_rollout.py" in files
    assert {"examples/fully_async/fully_async_rollout.py", "examples/fully_async/run-qwen3-4b-fully_async.sh"} <= files
    assert "vime/rollout/fully_async_rollout.py" not in files
    edits = git(fork, "log", "--format=%s", "--", "vime/rollout/vllm_streaming_rollout.py").decode().splitlines()
    assert len(edits) == 2, "landed, and grown since"
    assert "def generate_streaming" in (fork / "vime/rollout/vllm_streaming_rollout.py").read_text("utf-8")


def test_its_own_renderer_writes_the_workflow_that_is_committed(fork):
    template = (fork / "ci_templates/pr-test.yml.j2").read_text("utf-8")
    assert "e2e-test-megatron" not in template and "'test_qwen3_4B_partial_rollout.py'" in template
    subprocess.run([sys.executable, "ci_templates/render.py"], cwd=fork, check=True)
    assert git(fork, "status", "--porcelain") == b""


def test_no_commit_of_it_has_a_module_that_imports_what_is_not_there():
    for commit in handwritten_commits()[1:]:
        modules = {p.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for p in commit.state}
        for path, blob in commit.state.items():
            if path.endswith(".py"):
                named = re.findall(rb"^\s*(?:from|import) (vime[\w.]*)", blob.data, re.MULTILINE)
                assert {n.decode() for n in named} <= modules, path
