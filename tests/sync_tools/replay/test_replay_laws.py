"""The laws of a replay on the miniature: nothing is lost, nothing differs, and what goes wrong is told."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sync_tools.config import Config
from sync_tools.demo.upstream import upstream_commits
from sync_tools.gitio import Repo
from sync_tools.port import arrange, pipeline
from sync_tools.replay.session import Replayed, Task, replay

MARK = "# a line of the fork's own"


@pytest.fixture(scope="session")
def first(upstream: Path) -> str:
    out = subprocess.run(
        ["git", "-C", str(upstream), "rev-list", "--first-parent", "main"], capture_output=True, text=True, check=True
    )
    return out.stdout.split()[-1]


@pytest.fixture
def replayed(upstream: Path, first: str, tmp_path: Path) -> Callable[..., Replayed]:
    """Replay the whole history, with an overlay if one is given."""

    def run(overlay: Path | None = None) -> Replayed:
        place = tmp_path / "work"
        shutil.rmtree(place, ignore_errors=True)
        return replay(Task(first, "main", place, overlay), Repo.open(upstream), Config())

    return run


def test_the_whole_history_gives_the_import_at_its_end(sync, upstream, first, tmp_path, git):
    place = tmp_path / "work"
    answer = sync("replay", "--from", first, "--to", "main", "--workdir", place, "--json", upstream=upstream)
    value = json.loads(answer.out)
    seconds = value.pop("seconds")
    assert answer.code == 0 and seconds > 0
    assert value == {
        "schema": 1,
        "commits": len(upstream_commits()) - 1,
        "prs": value["prs"],
        "crashed": [],
        "conflicts": [],
        "unaccounted": 0,
        "final_tree_diff": [],
        "overlay_lost": [],
    }
    assert git(place, "status", "--porcelain") == ""
    assert git(place, "diff", "--name-only", "import", "main", "--", ".", ":!ledgers") == ""
    assert int(git(place, "rev-list", "--count", "main")) == 1 + 2 * value["commits"]
    assert git(place, "fsck", "--strict") == ""


def test_a_crash_is_told_and_the_next_commit_is_ported(replayed, monkeypatch):
    ported = arrange.port_file

    def crashes(change, setting):
        if change.path.endswith("test_http_utils.py"):
            raise ValueError("sabotage")
        return ported(change, setting)

    monkeypatch.setattr(arrange, "port_file", crashes)
    done = replayed()
    assert [c.pr for c in done.crashed] == [1926] and "sabotage" in done.crashed[0].what
    assert done.done == done.commits and not done.clean
    assert any(path.endswith("test_http_utils.py") for path in done.final_tree_diff)


def folder(tmp_path: Path, files: dict[str, str]) -> Path:
    place = tmp_path / "overlay"
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, "utf-8")
    return place


def test_a_conflict_is_told_and_the_forks_side_is_kept(replayed, imports, first, tmp_path, git):
    path = "vime/utils/http_utils.py"
    changed = git(imports(first), "show", f"HEAD:{path}")
    lines = changed.split("\n")
    at = next(i for i, line in enumerate(lines) if "sleep" in line)
    lines[at] = lines[at].replace("sleep(", "sleep(7 * ") + f"  {MARK}"
    done = replayed(folder(tmp_path, {path: "\n".join(lines) + "\n"}))
    assert [(c.pr, c.path) for c in done.conflicts] == [(1926, path)]
    assert done.overlay_lost == () and done.crashed == () and done.unaccounted == 0
    text = (tmp_path / "work" / path).read_text("utf-8")
    assert text.count(MARK) == 1 and "<<<<<<<" not in text


def test_an_edit_that_a_merge_loses_is_found(replayed, imports, first, tmp_path, git, monkeypatch):
    from sync_tools.merge.result import Merged
    from sync_tools.port import file

    path = "vime/utils/http_utils.py"
    text = git(imports(first), "show", f"HEAD:{path}") + f"\n\nSETTING = 1  {MARK}\n"
    overlay = folder(tmp_path, {path: text})
    assert replayed(overlay).clean
    monkeypatch.setattr(file, "merge_file", lambda path, base, ours, theirs: Merged(theirs, theirs))
    done = replayed(overlay)
    assert [(x.path, x.symbol) for x in done.overlay_lost] == [(path, "<module>")]
    assert MARK in done.overlay_lost[0].what and not done.clean


def test_a_folder_in_use_is_refused(sync, upstream, first, tmp_path):
    (tmp_path / "kept").write_text("mine")
    answer = sync("replay", "--from", first, "--to", "main", "--workdir", tmp_path, upstream=upstream)
    assert answer.code == 2 and "not empty" in answer.err
    assert [p.name for p in tmp_path.iterdir()] == ["kept"]


def test_an_interruption_leaves_what_stands(sync, upstream, first, tmp_path, git, monkeypatch):
    ported, count = pipeline.port_changes, []

    def interrupts(changes, job, progress=lambda _: None):
        if len(count) == 3:
            raise KeyboardInterrupt
        count.append(changes)
        return ported(changes, job, progress)

    monkeypatch.setattr("sync_tools.port.session.port_changes", interrupts)
    place = tmp_path / "work"
    answer = sync("replay", "--from", first, "--to", "main", "--workdir", place, upstream=upstream)
    assert answer.code == 130 and "after 3 of" in answer.err and answer.out == ""
    assert git(place, "rev-list", "--count", "main") == "7" and git(place, "status", "--porcelain") == ""


PYTHON = sorted(
    path.replace("slime", "vime").replace("sglang", "vllm")
    for path, blob in upstream_commits()[0].state.items()
    if path.endswith(".py") and blob.data.count(b"\n") > 5
)


@st.composite
def edits(draw: st.DrawFn) -> dict[str, list[int]]:
    """Where comments of the fork's own go: by path, before which lines (as parts of a thousand)."""
    paths = draw(st.lists(st.sampled_from(PYTHON), min_size=1, max_size=4, unique=True))
    return {p: draw(st.lists(st.integers(0, 1000), min_size=1, max_size=3, unique=True)) for p in paths}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=edits())
def test_edits_of_the_fork_survive_or_are_named(drawn, replayed, imports, first, tmp_path, git):
    shutil.rmtree(tmp_path / "overlay", ignore_errors=True)
    files, marks = {}, []
    for path, places in drawn.items():
        text = git(imports(first), "show", f"HEAD:{path}", check=False)
        if not text:
            continue
        lines = text.split("\n")
        for n, place in enumerate(sorted(places, reverse=True)):
            at = place * len(lines) // 1001
            indent = len(lines[at]) - len(lines[at].lstrip())
            marks.append((path, f"{MARK} {len(marks)}.{n}"))
            lines.insert(at, " " * indent + marks[-1][1])
        files[path] = "\n".join(lines) + "\n"
    if not files:
        return
    done = replayed(folder(tmp_path, files))
    assert done.overlay_lost == () and done.crashed == () and done.unaccounted == 0
    standing = [p.read_text("utf-8") for p in (tmp_path / "work").rglob("*.py")]
    named = {c.path for c in done.conflicts}
    for path, mark in marks:
        times = sum(text.count(mark + "\n") for text in standing)
        assert times == 1 or path in named, (path, mark, times)


def test_a_file_that_the_fork_renamed_gets_upstreams_edits(replayed, tmp_path, git):
    old, new = "vime/utils/http_utils.py", "vime/utils/our_http.py"
    overlay = folder(tmp_path, {"overlay.toml": f'[rename]\n"{old}" = "{new}"\n'})
    done = replayed(overlay)
    assert done.overlay_lost == () and done.conflicts == () and done.final_tree_diff == ()
    place = tmp_path / "work"
    assert not (place / old).exists()
    assert (place / new).read_text("utf-8") == git(place, "show", f"import:{old}") + "\n"


def test_a_folder_inside_a_repository_is_refused(sync, upstream, first, handwritten):
    answer = sync("replay", "--from", first, "--to", "main", "--workdir", handwritten / "x", upstream=upstream)
    assert answer.code == 2 and "lies in a repository" in answer.err and not (handwritten / "x").exists()


def test_wrong_ends_are_refused(sync, upstream, first, tmp_path):
    answer = sync("replay", "--from", "main", "--to", first, "--workdir", tmp_path / "x", "--json", upstream=upstream)
    assert answer.code == 2 and json.loads(answer.out)["error"]["what"] and not (tmp_path / "x").exists()


def test_a_deletion_that_a_merge_undoes_is_found(replayed, imports, first, tmp_path, git, monkeypatch):
    from sync_tools.merge.result import Merged
    from sync_tools.port import file

    path = "vime/utils/http_utils.py"
    lines = git(imports(first), "show", f"HEAD:{path}").split("\n")
    end = git(imports("main"), "show", f"HEAD:{path}").split("\n")
    at = next(i for i, x in enumerate(lines) if "=" in x and lines.count(x) == end.count(x) == 1)
    overlay = folder(tmp_path, {path: "\n".join(lines[:at] + lines[at + 1 :]) + "\n"})
    done = replayed(overlay)
    assert done.overlay_lost == () and done.final_tree_diff == ()
    monkeypatch.setattr(file, "merge_file", lambda path, base, ours, theirs: Merged(theirs, theirs))
    done = replayed(overlay)
    assert [(x.path, x.line) for x in done.overlay_lost] == [(path, at + 1)]
    assert "removed and back" in done.overlay_lost[0].what and not done.clean


def test_a_copy_of_the_import_with_files_gone_and_renamed(replayed, imports, first, tmp_path, git):
    copy = Path(shutil.copytree(imports(first), tmp_path / "copy", symlinks=True))
    shutil.rmtree(copy / ".git")
    old, new, gone = "vime/utils/http_utils.py", "vime/utils/our_http.py", "vime/utils/misc.py"
    (copy / old).rename(copy / new)
    (copy / gone).unlink()
    done = replayed(copy)
    assert done.overlay_lost == () and done.crashed == () and done.final_tree_diff == ()
    place = tmp_path / "work"
    assert not (place / old).exists() and not (place / gone).exists()
    assert (place / new).read_text("utf-8") == git(place, "show", f"import:{old}") + "\n"


@pytest.mark.parametrize("broken", ["    # a note that Jinja does not read", "    <% nothing %>"])
def test_a_workflow_template_that_the_fork_broke_stops_no_port(replayed, imports, first, tmp_path, git, broken):
    path = ".github/workflows/pr-test.yml.j2"
    lines = git(imports(first), "show", f"HEAD:{path}").split("\n")
    at = next(n for n, line in enumerate(lines) if "test_file" in line) if "#" in broken else len(lines) // 2
    done = replayed(folder(tmp_path, {path: "\n".join([*lines[:at], broken, *lines[at:]]) + "\n"}))
    assert done.crashed == () and done.overlay_lost == ()
    assert (tmp_path / "work" / path).read_text().count(f"{broken}\n") == 1
