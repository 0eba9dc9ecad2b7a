"""This repository's own CI: generated, current, valid, and it runs every test."""

import subprocess
from pathlib import Path

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
