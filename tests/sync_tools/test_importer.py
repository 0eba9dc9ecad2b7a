"""A whole tree of upstream's becomes a repository: names, modes, links, bytes, policies, the seam, and what is refused."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sync_tools.config import Config, parse
from sync_tools.errors import SyncError
from sync_tools.files import alone
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
}
INLINE = Config.model_validate({"seam": {"style": "inline"}})


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in IDENTITY.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def git(where: Path, *args: str, data: bytes | None = None) -> bytes:
    return subprocess.run(["git", "-C", str(where), *args], input=data, capture_output=True, check=True).stdout


def upstream(tmp_path: Path, files: dict[str, tuple[int, bytes]]) -> Repo:
    """A repository with one commit of these files, written without a work tree (so that any path can be in it)."""
    place = tmp_path / "upstream.git"
    git(tmp_path, "init", "--quiet", "--bare", str(place))
    stream = b"commit refs/heads/main\ncommitter Ada <a@example.org> 1700000000 +0000\ndata 5\nfirst\n"
    for path, (mode, data) in files.items():
        quoted = '"' + path.replace('"', '\\"') + '"'
        stream += f"M {mode:o} inline {quoted}\ndata {len(data)}\n".encode() + data + b"\n"
    git(place, "fast-import", "--quiet", data=stream)
    return Repo.open(place)


FILES = {
    "slime/__init__.py": (0o100644, b""),
    "slime/rollout/sglang_rollout.py": (0o100644, b"import slime\r\n"),
    "run.sh": (0o100755, b"A=(\n  --sglang-enable-metrics\n)\n"),
    "img.png": (0o100644, b"\x89PNG\0slime"),
    "link.py": (0o120000, b"slime/rollout/sglang_rollout.py"),
    "odd name 'é'.txt": (0o100644, b"plain"),
    "docker/patch/sglang.patch": (0o100644, b"sglang"),
    "bad.py": (0o100644, b"from sglang.srt.x import y\n"),
}


def test_a_tree_becomes_a_repository_with_one_commit(tmp_path: Path) -> None:
    repo, to = upstream(tmp_path, FILES), tmp_path / "out"
    done = import_tree(repo, "main", to, INLINE)
    assert (done.files, done.dropped, done.failed) == (7, 1, 0)
    assert done.translated + done.identical == done.files
    assert [(u.path, u.line) for u in done.unresolved] == [("bad.py", 1)]
    assert (to / "vime/rollout/vllm_rollout.py").read_bytes() == b"import vime\r\n"
    assert (to / "run.sh").read_bytes() == b"A=(\n)\n"
    assert os.access(to / "run.sh", os.X_OK)
    assert (to / "img.png").read_bytes() == FILES["img.png"][1]
    assert (to / "link.py").readlink() == Path("vime/rollout/vllm_rollout.py")
    assert (to / "odd name 'é'.txt").exists()
    assert not (to / "docker").exists()
    assert git(to, "rev-list", "--count", "HEAD").strip() == b"1"
    assert f"Upstream-Commit: {done.upstream_commit}".encode() in git(to, "log", "-1", "--format=%B")
    assert git(to, "status", "--porcelain") == b""


def test_the_rules_that_applied_nowhere_are_named(tmp_path: Path) -> None:
    done = import_tree(upstream(tmp_path, FILES), "main", tmp_path / "out", INLINE)
    assert "SY306" not in done.unused_rules
    assert {"SY208", "SY307", "SY501"} <= set(done.unused_rules)


def test_the_seam_comes_with_it_unless_the_style_is_inline(tmp_path: Path) -> None:
    pytest.importorskip("vime.backends.vllm_utils.seam")
    import_tree(upstream(tmp_path, FILES), "main", tmp_path / "out", Config())
    assert (tmp_path / "out/vime/backends/vllm_utils/seam/__init__.py").is_file()


def test_inside_a_repository_files_are_written_and_nothing_is_committed(tmp_path: Path) -> None:
    repo = upstream(tmp_path, FILES)
    git(tmp_path, "init", "--quiet", str(tmp_path / "mine"))
    done = import_tree(repo, "main", tmp_path / "mine" / "sub", INLINE)
    assert done.commit is None
    assert (tmp_path / "mine/sub/vime/rollout/vllm_rollout.py").is_file()
    assert (tmp_path / "mine/sub/link.py").is_symlink()


@pytest.mark.parametrize("how", ["edited", "untracked", "ignored"])
def test_what_is_not_committed_is_not_written_over(tmp_path: Path, how: str) -> None:
    repo, mine = upstream(tmp_path, FILES), tmp_path / "mine"
    git(tmp_path, "init", "--quiet", str(mine))
    if how != "untracked":
        import_tree(repo, "main", mine, INLINE)
        (mine / ".gitignore").write_text("*.sh\n" if how == "ignored" else "")
        git(mine, "add", ".")
        git(mine, "commit", "--quiet", "--message", "imported")
    (mine / "run.sh").write_text("my own")
    (mine / "img.png").unlink(missing_ok=True)
    with pytest.raises(SyncError, match="not committed") as refused:
        import_tree(repo, "main", mine, INLINE)
    assert refused.value.where == str(mine / "run.sh")
    assert (mine / "run.sh").read_text() == "my own" and not (mine / "img.png").exists()


def test_what_is_committed_or_the_same_is_no_reason_to_refuse(tmp_path: Path) -> None:
    repo, mine = upstream(tmp_path, FILES), tmp_path / "mine"
    git(tmp_path, "init", "--quiet", str(mine))
    import_tree(repo, "main", mine, INLINE)
    import_tree(repo, "main", mine, INLINE)  # the same files, none of them committed
    (mine / "run.sh").write_text("an older one")
    git(mine, "add", ".")
    git(mine, "commit", "--quiet", "--message", "mine")
    import_tree(repo, "main", mine, INLINE)
    assert (mine / "run.sh").read_bytes() != b"an older one"


def test_a_link_in_the_way_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    repo, mine = upstream(tmp_path, FILES), tmp_path / "mine"
    git(tmp_path, "init", "--quiet", str(mine))
    (mine / "vime").symlink_to(tmp_path)
    with pytest.raises(SyncError):
        import_tree(repo, "main", mine, INLINE)
    assert not (tmp_path / "rollout").exists()
    assert not (mine / "run.sh").exists()


@pytest.mark.parametrize("style", [Config(), INLINE])
def test_an_unknown_revision_is_refused(tmp_path: Path, style: Config) -> None:
    with pytest.raises(SyncError):
        import_tree(upstream(tmp_path, FILES), "nowhere", tmp_path / "out", style)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    repo = upstream(tmp_path, FILES)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with pytest.raises(SyncError):
        import_tree(repo, "main", tmp_path / "out", INLINE)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine"]


def test_a_configured_path_that_leaves_the_tree_is_refused() -> None:
    for place in ("b/.git/hooks/x", "../x", "/x"):
        with pytest.raises(SyncError, match="paths"):
            parse(f'[[paths]]\nold = "a.py"\nnew = "{place}"\n', "sync.toml")


def test_two_files_that_come_to_one_path_are_reported(tmp_path: Path) -> None:
    repo = upstream(tmp_path, {"slime/a.py": (0o100644, b"1"), "vime/a.py": (0o100644, b"2")})
    done = import_tree(repo, "main", tmp_path / "out", INLINE)
    assert done.failed == 1
    assert [u.path for u in done.unresolved] == ["vime/a.py"]


def test_no_identity_is_an_error_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = upstream(tmp_path, FILES)
    for key in IDENTITY:
        monkeypatch.delenv(key)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with pytest.raises(SyncError):
        import_tree(repo, "main", tmp_path / "out", INLINE)
    assert {p.name for p in tmp_path.iterdir()} == {"upstream.git"}


def test_importing_twice_gives_the_same_tree(tmp_path: Path) -> None:
    repo = upstream(tmp_path, FILES)
    import_tree(repo, "main", tmp_path / "a", INLINE, cache=tmp_path / "cache")
    import_tree(repo, "main", tmp_path / "b", INLINE, cache=tmp_path / "cache")
    assert git(tmp_path / "a", "rev-parse", "HEAD^{tree}") == git(tmp_path / "b", "rev-parse", "HEAD^{tree}")


def test_the_report_counts_kinds_and_says_what_was_dropped_and_why(tmp_path: Path) -> None:
    done = import_tree(upstream(tmp_path, FILES), "main", tmp_path / "out", INLINE)
    kinds = {kind.kind: (kind.files, kind.translated, kind.identical) for kind in done.kinds}
    assert kinds["Python"] == (3, 1, 2)
    assert kinds["link"] == (1, 1, 0)
    assert kinds["binary"] == (1, 0, 1)
    assert sum(kind.files for kind in done.kinds) == done.files
    assert [(d.path, "SGLang's own sources" in d.reason) for d in done.dropped_paths] == [
        ("docker/patch/sglang.patch", True)
    ]
    assert sum(group.sites for group in done.unresolved_groups) == len(done.unresolved)


def test_every_old_name_that_stands_has_a_reason_or_is_named(tmp_path: Path) -> None:
    files = {
        "a.md": (0o100644, b"see https://github.com/THUDM/slime and slimes\n"),
        "b.py": (0o100644, b"from sglang.srt.x import y\n"),
        "c.txt": (0o100644, b"fine\nxslime\n"),
        "docker/Dockerfile": (0o100644, b"RUN pip install sglang\n"),
    }
    done = import_tree(upstream(tmp_path, files), "main", tmp_path / "out", INLINE)
    assert [(u.path, u.line, u.name) for u in done.unjustified] == [("a.md", 1, "slimes"), ("c.txt", 2, "xslime")]
    assert {kept.reason for kept in done.standing} == {"SY291", "SY296", "SY297"}
    assert all(kept.title and kept.names and kept.files for kept in done.standing)


def test_a_link_to_what_was_dropped_is_reported_and_other_links_are_not(tmp_path: Path) -> None:
    files = {
        "docker/patch/sglang.patch": (0o100644, b"x"),
        "docs/a.md": (
            0o100644,
            b"one\n[p](../docker/patch/sglang.patch) [f](../docker/patch) [b](b.md) [w](https://a.b/c)\n",
        ),
        "docs/b.md": (0o100644, b"[none](nowhere.md) [a](a.md#one)\n"),
        "docker/README.md": (0o100644, b"[here](.)\n"),
    }
    done = import_tree(upstream(tmp_path, files), "main", tmp_path / "out", INLINE)
    told = [(u.path, u.line, u.what) for u in done.unresolved]
    assert told == [("docs/a.md", 2, "../docker/patch/sglang.patch"), ("docs/a.md", 2, "../docker/patch")]
    assert all("SGLang's own sources" in u.why for u in done.unresolved)


TEMPLATE = ".github/workflows/pr-test.yml.j2"
STANDING = ".github/workflows/pr-test.yml"


@pytest.mark.parametrize("broken", [b"<% for %>\n", b"x" * 2_000_000], ids=["syntax", "size"])
def test_a_template_that_cannot_be_rendered_is_carried_and_reported(tmp_path: Path, broken: bytes) -> None:
    files = FILES | {TEMPLATE: (0o100644, broken), STANDING: (0o100644, b"on: push\n")}
    done = import_tree(upstream(tmp_path, files), "main", tmp_path / "out", INLINE)
    assert (tmp_path / "out" / TEMPLATE).read_bytes() == broken
    assert (tmp_path / "out" / STANDING).read_bytes() == b"on: push\n"
    assert [(u.path, "the workflow is not made from it" in u.why) for u in done.unresolved if u.path == TEMPLATE] == [
        (TEMPLATE, True)
    ]
    assert done.failed == 0


def test_a_folder_of_git_is_refused(tmp_path: Path) -> None:
    repo = upstream(tmp_path, FILES)
    git(tmp_path, "init", "--quiet", str(tmp_path / "mine"))
    for place in ("mine/.git/out", "mine/.git", "upstream.git/out"):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(SyncError, match="belongs to git"):
            import_tree(repo, "main", tmp_path / place, INLINE)
        assert sorted(tmp_path.rglob("*")) == before


def test_a_repository_is_whole_for_git_and_has_what_upstream_has(tmp_path: Path) -> None:
    to = tmp_path / "out"
    link = "160000", "c0ffee" * 6 + "cafe"
    repo = upstream(tmp_path, FILES)
    git(repo.git_dir, "read-tree", "main")
    git(repo.git_dir, "update-index", "--add", "--cacheinfo", ",".join((*link, "deep/er/module")))
    tree = git(repo.git_dir, "write-tree").decode().strip()
    commit = git(repo.git_dir, "commit-tree", tree, "-p", "main", "-m", "with a submodule").decode().strip()
    done = import_tree(repo, commit, to, INLINE)
    assert git(to, "fsck", "--strict", "--full") == b""
    assert git(to, "ls-files", "--stage", "deep/er").split()[:2] == [word.encode() for word in link]
    assert git(to, "symbolic-ref", "HEAD") == b"refs/heads/main\n"
    assert git(to, "rev-parse", "HEAD").decode().strip() == done.commit
    assert git(to, "status", "--porcelain", "--ignored") == b""
    git(to, "gc", "--quiet")
    assert git(to, "fsck", "--strict", "--full") == b""


KILLED = """
import os, signal, sys
from pathlib import Path
from sync_tools import imported
from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree
imported.{step} = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
import_tree(Repo.open(Path(sys.argv[1])), "main", Path(sys.argv[2]), Config.model_validate({{"seam": {{"style": "inline"}}}}))
"""


@pytest.mark.parametrize("step", ["_store", "packed", "_write_synced"])
def test_an_import_that_is_killed_leaves_the_target_absent_and_the_next_one_tidies_up(
    tmp_path: Path, step: str
) -> None:
    repo, to = upstream(tmp_path, FILES), tmp_path / "out"
    words = [sys.executable, "-c", KILLED.format(step=step), str(repo.git_dir), str(to)]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert {p.name for p in tmp_path.iterdir()} > {"upstream.git"} and not to.exists()
    import_tree(repo, "main", to, INLINE)
    assert {p.name for p in tmp_path.iterdir()} == {"upstream.git", "out"}


def test_a_part_of_an_import_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    repo, to = upstream(tmp_path, FILES), tmp_path / "out"
    (part := tmp_path / ".out.1.part").mkdir()
    (other := tmp_path / ".outer.1.part").mkdir()
    with alone(part):
        import_tree(repo, "main", to, INLINE)
    assert part.is_dir() and other.is_dir()
