"""This repository's own CI: generated, current, valid, and it runs every test."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_tools.ci.check import check
from sync_tools.ci.matrix import parse
from sync_tools.ci.paths import locate
from sync_tools.config import CI, Config, load
from sync_tools.tree import Blob, MemoryTree

ROOT = Path(__file__).parents[3]


def own_tree() -> MemoryTree:
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    paths = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return MemoryTree({path: Blob((ROOT / path).read_bytes()) for path in paths if path and (ROOT / path).is_file()})


def own_config() -> CI:
    return (load(ROOT / "sync.toml") if (ROOT / "sync.toml").is_file() else Config()).ci


def test_our_own_ci_has_no_problem() -> None:
    checked = check(own_tree(), own_config())
    assert checked.problems == ()
    assert checked.current


def test_our_template_has_a_matrix_that_can_be_ported_to() -> None:
    tree = own_tree()
    path = locate(tree.paths(), own_config()).template
    assert path == "ci_templates/pr-test.yml.j2"
    matrix = parse(tree.files[path].data.decode(), path).matrix
    assert {"cpu-unittest", "e2e-test-short", "e2e-test-megatron"} <= {job.name for job in matrix.jobs}


def own_rows() -> dict[str, str]:
    """The files of tests that a CPU job runs by themselves, and the packages that each row names."""
    tree = own_tree()
    path = locate(tree.paths(), own_config()).template
    job = parse(tree.files[path].data.decode(), path).matrix.job("cpu-unittest")
    named = {row.test_file: dict(row.options).get("packages", "''") for row in job.rows}
    return {file: ast.literal_eval(packages) for file, packages in named.items() if file.endswith(".py")}


def third_party(file: Path, project: dict, seen: set[Path]) -> Iterator[str]:
    """What a test imports that is neither Python's nor ours, through the helpers that pytest puts on the path."""
    seen.add(file)
    folders = [ROOT / place for place in project["tool"]["pytest"]["ini_options"]["pythonpath"]]
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for name in {one.partition(".")[0] for one in names} - {"vime"} - sys.stdlib_module_names:
            ours = [folder / f"{name}.py" for folder in folders if (folder / f"{name}.py").is_file()]
            for helper in ours:
                yield from () if helper in seen else third_party(helper, project, seen)
            yield from () if ours else (name,)


@pytest.mark.parametrize("file", own_rows())
def test_a_row_of_one_file_names_what_it_needs_beside_the_tools_of_every_row(file: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    tools = {one.partition("=")[0].rstrip("><") for one in project["project"]["optional-dependencies"]["dev"]}
    assert set(third_party(ROOT / "tests" / file, project, set())) - tools == set(own_rows()[file].split())
