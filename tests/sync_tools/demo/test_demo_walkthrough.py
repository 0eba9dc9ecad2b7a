import io
import sys

import pytest
from rich.console import Console

from sync_tools.demo.side_by_side import side_by_side
from sync_tools.demo.stage import Stage


def printed(renderable) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(renderable)
    return console.file.getvalue()


def stage_in(folder) -> Stage:
    return Stage(folder, Console(file=io.StringIO(), width=200))


def test_side_by_side_shows_where_more_than_the_names_differ():
    shown = printed(
        side_by_side("import slime\nkeep = sglang\nurl = '/generate'\n", "import vime\nkeep = vllm\nurl = '/v1'\n")
    )
    assert "line 3" in shown and "'/generate'" in shown and "'/v1'" in shown
    assert "keep" not in shown


def test_side_by_side_says_so_when_only_names_differ():
    assert "no difference" in printed(side_by_side("import slime", "import vime"))


def test_a_command_is_shown_before_what_it_prints(upstream, capfd):
    stage = Stage(upstream.parent, Console(file=sys.stdout, width=200))
    assert stage.git(upstream.name, "log", "-1", "--format=tformat:the last one")
    out = capfd.readouterr().out
    assert out.index("$ git -C") < out.index("\nthe last one\n")
    assert stage.surprises == []


def test_an_unexpected_exit_code_is_remembered(upstream):
    stage = stage_in(upstream.parent)
    assert not stage.git(upstream.name, "switch", "-q", "no-such-branch")
    assert len(stage.surprises) == 1 and "no-such-branch: exit code" in stage.surprises[0]


def test_a_traceback_is_a_surprise_even_with_an_expected_exit_code(upstream):
    stage = stage_in(upstream.parent)
    assert not stage._run(["x"], [sys.executable, "-c", "raise KeyError"], expect=(1,))
    assert stage._run(["x"], [sys.executable, "-c", "raise SystemExit(1)"], expect=(1,))


@pytest.mark.slow
def test_the_walk_through_ends_well_and_leaves_nothing_behind(capfd, tmp_path, monkeypatch):
    pytest.importorskip("sync_tools.commands.import_")
    from sync_tools.demo.walkthrough import run

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert run() == 0, capfd.readouterr().out
    assert list(tmp_path.iterdir()) == []
