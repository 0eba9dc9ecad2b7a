"""Public names and options that a change removes while the fork's own files, which upstream does not have, still use them."""

import ast
import os
import re
from collections.abc import Iterator
from operator import attrgetter

from sync_tools.gitio import GitFailed, Repo
from sync_tools.ledger.symbols import is_public
from sync_tools.plan.model import Risk
from sync_tools.plan.risks import kind_of
from sync_tools.port.file import Setting
from sync_tools.port.images import matrix_name
from sync_tools.port.style import seam_folder
from sync_tools.syntax import parsed
from sync_tools.upstream.changeset import ChangeSet, Image

OPTION = re.compile(rb"""add_argument\(\s*["'](--[\w-]+)["']""")
SHORTEST = 4
"""A shorter name says too little where it is found as a word."""


def removals(changes: ChangeSet, setting: Setting, fork: Repo, base: str, upstream: Repo) -> Iterator[Risk]:
    """A mark for each removed name that a file of the fork's own holds as a word."""
    gone = removed_names(changes) | removed_options(changes)
    if not gone:
        return
    config, translator = setting.config, setting.translator
    ours = {matrix_name(name, config, translator): name for name in sorted(gone)}
    shared = {translator.path(path) for path in upstream.tree(changes.commit).paths()}
    shared |= {translator.path(f.before.path) for f in changes.files if f.before}
    brought = (f"{config.ledgers}/", f"{seam_folder(config)}/")
    for name in ours:
        users = [p for p in _users(fork, base, name) if p not in shared and not p.startswith(brought)]
        if users:
            listed = ", ".join(users[:3]) + (f" and {len(users) - 3} more" if len(users) > 3 else "")
            yield Risk("removes", f"{name} goes, and {listed} of the fork's own holds it", tuple(users))


def removed_names(changes: ChangeSet) -> frozenset[str]:
    """Public functions, classes and constants at the top of a module that no file of the change defines any more."""
    files = [f for f in changes.files if f.path.endswith(".py") and kind_of(f.path) != "tests"]
    before = {name for f in files for name in _defined(f.before)}
    after = {name for f in files for name in _defined(f.after)}
    return frozenset(name for name in before - after if is_public(name) and len(name) >= SHORTEST)


def removed_options(changes: ChangeSet) -> frozenset[str]:
    """Options that no parser of the change takes any more."""
    before, after = (
        {
            option.decode()
            for f in changes.files
            for image in [side(f)]
            if image
            for option in OPTION.findall(image.data)
        }
        for side in (attrgetter("before"), attrgetter("after"))
    )
    return frozenset(before - after)


def _defined(image: Image | None) -> Iterator[str]:
    tree = parsed(image.data) if image else None
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _users(fork: Repo, base: str, name: str) -> list[str]:
    try:
        out = fork.run("grep", "-l", "-z", "-w", "-I", "-F", "--full-name", "-e", name, base, "--")
    except GitFailed:  # no file holds it
        return []
    paths = (os.fsdecode(entry).partition(":")[2] for entry in out.split(b"\0") if entry)
    return sorted(path for path in paths if path.endswith((".py", ".sh", ".yaml", ".yml", ".toml")))
