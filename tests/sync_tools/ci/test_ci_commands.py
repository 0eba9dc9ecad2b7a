from pathlib import Path

import pytest
from ci_fixtures import row, template

from sync_tools.ci.check import check
from sync_tools.ci.commands import add, move, parse_options, render, write
from sync_tools.ci.paths import counterpart, locate
from sync_tools.config import CI, parse
from sync_tools.errors import SyncError
from sync_tools.tree import Blob, MemoryTree, Tree

TEMPLATE, WORKFLOW = ".github/workflows/pr-test.yml.j2", ".github/workflows/pr-test.yml"
TEXT = template({"big": [row("a"), row("b")], "short": [row("c")]})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {f"tests/test_{name}.py": b"" for name in "abcd"} | {TEMPLATE: TEXT.encode(), "tests/d/test_e.py": b""}
    write(tmp_path, files)
    return tmp_path


def tree(root: Path) -> Tree:
    paths = (path for path in root.rglob("*") if path.is_file())
    return MemoryTree({path.relative_to(root).as_posix(): Blob(path.read_bytes()) for path in paths})


def test_render_writes_the_workflow_once(root: Path) -> None:
    change = render(tree(root), CI())
    assert list(change.files) == [WORKFLOW]
    write(root, change.files)
    assert render(tree(root), CI()).files == {}


def test_add_registers_a_test_and_renders(root: Path) -> None:
    change = add(tree(root), CI(), "tests/test_d.py", "short", 0, ["test_args=--x=1"])
    assert list(change.files) == [TEMPLATE, WORKFLOW]
    write(root, change.files)
    assert "{'test_file': 'test_d.py', 'test_args': '--x=1', 'num_gpus': 0}" in (root / TEMPLATE).read_text()
    assert add(tree(root), CI(), "test_d.py", "short", 0, ["test_args=--x=1"]).files == {}
    write(root, add(tree(root), CI(), "d", "short", 0).files)
    assert check(tree(root), CI()).problems == ()


def test_move_is_remembered_in_the_configuration(root: Path) -> None:
    (root / "sync.toml").write_text("# ours\nschema = 1\n")
    change = move(tree(root), CI(), "tests/test_a.py", "short", why="as short as it gets")
    assert set(change.files) == {TEMPLATE, WORKFLOW, "sync.toml"}
    write(root, change.files)
    config = (root / "sync.toml").read_text()
    (place,) = parse(config, "").ci.places
    assert (place.test_file, place.job, place.to, place.why) == ("test_a.py", "big", "short", "as short as it gets")
    assert config.startswith("# ours\n")


@pytest.mark.parametrize(
    ("test", "job", "options"),
    [("tests/test_z.py", "short", []), ("tests/test_d.py", "none", []), ("tests/test_d.py", "short", ["num_gpus=1"])],
)
def test_what_makes_no_sense_changes_nothing(root: Path, test: str, job: str, options: list[str]) -> None:
    with pytest.raises(SyncError):
        add(tree(root), CI(), test, job, 0, options)


def test_without_a_template_there_is_nothing_to_render() -> None:
    with pytest.raises(SyncError, match="no workflow template"):
        render(MemoryTree({}), CI())


@pytest.mark.parametrize("word", ["x", "=1", "a b=1", "test_file=x", "1a=2", ""])
def test_options_are_key_and_value(word: str) -> None:
    assert parse_options(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    with pytest.raises(SyncError):
        parse_options([word])


def test_nothing_is_written_through_a_link_out_of_the_tree(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "file")
    for path in ("folder/x", "file", "../x"):
        with pytest.raises(SyncError, match="leads out"):
            write(root, {"first": b"", path: b"x"})
    assert list(outside.iterdir()) == [] and not (root / "first").exists()


def test_a_written_file_keeps_its_mode_and_leaves_no_other_behind(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o755)
    write(tmp_path, {"a": b"new", "b": b""})
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_upstreams_template_goes_to_ours_wherever_it_stands() -> None:
    ours = "ci_templates/pr-test.yml.j2"
    assert counterpart(TEMPLATE, {ours, TEMPLATE}, CI()) == ours
    assert counterpart(TEMPLATE, {TEMPLATE}, CI()) == TEMPLATE
    assert counterpart(ours, {TEMPLATE}, CI()) == TEMPLATE
    assert counterpart(TEMPLATE, set(), CI()) == TEMPLATE
    assert counterpart(TEMPLATE, {"ci/t.j2"}, CI(template="ci/t.j2")) == "ci/t.j2"
    assert counterpart(WORKFLOW, set(), CI()) == WORKFLOW
    assert counterpart(".github/workflows/other.yml", {ours}, CI()) is None
    assert locate({ours, TEMPLATE}, CI()).template == ours
    assert locate(set(), CI(template="ci/t.j2")).template is None
