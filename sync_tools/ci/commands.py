"""`sync ci render|add|move` as functions from a tree to the files that change, and the one that writes them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sync_tools.ci import coverage
from sync_tools.ci.edit import Edited, add_row, move_rows
from sync_tools.ci.matrix import TEST_FILE
from sync_tools.ci.paths import CIPaths, locate
from sync_tools.ci.places import remembered
from sync_tools.ci.render import workflow
from sync_tools.config import CI, Place
from sync_tools.errors import SyncError
from sync_tools.files import write_atomically
from sync_tools.tree import Tree

CONFIG = "sync.toml"


@dataclass(frozen=True)
class Change:
    """The files to write, none where all is as it should be. `edited` says what became of the matrix."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    edited: Edited | None = None


def render(tree: Tree, ci: CI) -> Change:
    """The workflow made again from its template."""
    paths, template = _template(tree, ci)
    return Change(_workflow(tree, ci, paths, template))


def add(tree: Tree, ci: CI, test: str, job: str, num_gpus: int, options: Sequence[str] = ()) -> Change:
    """A row for a test (a file, a folder or a glob of the tree) at the end of a job, and the workflow with it."""
    paths, template = _template(tree, ci)
    if not coverage.matched(test, tree.paths(), ci.tests):
        raise SyncError("no such test", test, f"name a file, a folder or a glob below {ci.tests}/")
    edited = add_row(template, _name(paths), job, test.removeprefix(f"{ci.tests}/"), num_gpus, parse_options(options))
    return Change(_changed(tree, ci, paths, template, edited.data), edited)


def move(
    tree: Tree, ci: CI, test: str, to: str, origin: str | None = None, why: str = "", config: str = CONFIG
) -> Change:
    """A test's rows in another job, the workflow with them, and the place remembered in `config`."""
    paths, template = _template(tree, ci)
    edited = move_rows(template, _name(paths), test.removeprefix(f"{ci.tests}/"), to, origin)
    blob = tree.blob(config)
    content = blob.data.decode("utf-8", "surrogateescape") if blob else "schema = 1\n"
    place = Place(test_file=test.removeprefix(f"{ci.tests}/"), job=edited.origin, to=to, why=why)
    toml = remembered(content, place, config).encode("utf-8", "surrogateescape")
    return Change(_changed(tree, ci, paths, template, edited.data) | {config: toml}, edited)


def parse_options(options: Sequence[str]) -> dict[str, str]:
    """`key=value` words as a row's options."""
    values: dict[str, str] = {}
    for word in options:
        name, equals, value = word.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name) or name in (TEST_FILE, "num_gpus"):
            raise SyncError(
                "not an option of a row", word, "write key=value; the test and --num-gpus have their own places"
            )
        values[name] = value
    return values


def write(root: Path, files: Mapping[str, bytes]) -> None:
    """Writes the files below `root`, each at once or not at all; never through a link that leads out of it."""
    top = root.resolve()
    for path in files:
        target = top / path
        if target.is_symlink() or not target.parent.resolve().is_relative_to(top):
            raise SyncError("leads out of the tree", path, "replace the link by a file")
    for path, data in files.items():
        write_atomically(top / path, data)


def _template(tree: Tree, ci: CI) -> tuple[CIPaths, bytes]:
    paths = locate(tree.paths(), ci)
    blob = tree.blob(paths.template) if paths.template else None
    if blob is None:
        raise SyncError(
            "no workflow template", ci.template or "ci_templates/", "add one, or set ci.template in sync.toml"
        )
    return paths, blob.data


def _name(paths: CIPaths) -> str:
    return paths.template or ""


def _changed(tree: Tree, ci: CI, paths: CIPaths, before: bytes, after: bytes) -> dict[str, bytes]:
    """The template where it changed, and the workflow where it is not what the template renders to now."""
    return ({} if before == after else {_name(paths): after}) | _workflow(tree, ci, paths, after)


def _workflow(tree: Tree, ci: CI, paths: CIPaths, template: bytes) -> dict[str, bytes]:
    standing = tree.blob(paths.workflow)
    data = standing.data if standing else None
    rendered = workflow(template, _name(paths), data, ci.banner)
    return {} if rendered == data else {paths.workflow: rendered}
