"""The laws of translation on upstream's own tree, at both ends of the real window."""

import ast
import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest
from ruamel.yaml import YAML

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import Tree, translated_tree
from sync_tools.importer.report import account
from sync_tools.modes import SYMLINK
from sync_tools.translate import Translator

pytestmark = pytest.mark.upstream
ENDS = ("8ef1fb47e", "624b824a8")
ANCHOR = re.compile(r"\]\(#([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)
RELATIVE = re.compile(r"\]\((?!\w+:|#|/)([^)#\s]+)(?:#[^)\s]*)?\)")


@pytest.fixture(scope="module", params=ENDS)
def tree(request: pytest.FixtureRequest, slime: Path) -> Tree:
    return translated_tree(Repo.open(slime), request.param, Config(), workers=2)


def pairs(tree: Tree) -> list[tuple[str, bytes, bytes]]:
    """Upstream's path, the bytes there, and the bytes of the fork."""
    return [(p, tree.sources[p], t.data) for p, t in tree.translations.items() if tree.modes[p] != SYMLINK]


def test_every_python_file_still_parses(tree: Tree) -> None:
    for path, before, after in pairs(tree):
        if path.endswith(".py"):
            ast.parse(before), ast.parse(after, path)


def test_translating_again_changes_nothing_under_the_old_path_and_the_new(tree: Tree) -> None:
    translator = Translator()
    for path, _, after in pairs(tree):
        for place in (path, translator.path(path)):
            assert translator.file(place, after).data == after, place
        assert translator.path(translator.path(path)) == translator.path(path)


def test_one_process_gives_what_two_give(tree: Tree, slime: Path) -> None:
    alone = translated_tree(Repo.open(slime), tree.commit, Config(), workers=1)
    assert alone == tree


def test_what_the_cache_gives_is_what_was_made(tree: Tree, slime: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert translated_tree(Repo.open(slime), tree.commit, Config(), cache=tmp_path / "cache") == tree


def test_a_file_without_applications_is_upstreams_byte_for_byte(tree: Tree) -> None:
    for path, before, after in pairs(tree):
        assert (before == after) == (not tree.translations[path].applications), path


def test_modes_links_and_line_ends_stand(tree: Tree) -> None:
    translator = Translator()
    for path, before, after in pairs(tree):
        assert tree.blobs[translator.path(path)].mode == tree.modes[path]
        assert before.count(b"\r") == after.count(b"\r")
        assert before.endswith(b"\n") == after.endswith(b"\n")


def test_shell_is_still_shell(tree: Tree, tmp_path: Path) -> None:
    for n, (path, _, after) in enumerate(pairs(tree)):
        if path.endswith(".sh"):
            script = tmp_path / f"{n}.sh"
            script.write_bytes(after)
            assert subprocess.run(["bash", "-n", script], capture_output=True).returncode == 0, path


def test_yaml_is_still_yaml(tree: Tree) -> None:
    for path, _, after in pairs(tree):
        if path.endswith((".yml", ".yaml")):
            assert list(YAML(typ="safe", pure=True).load_all(after.decode())), path


def test_relative_links_that_upstream_resolves_resolve(tree: Tree) -> None:
    translator = Translator()
    for path, before, after in pairs(tree):
        if path.endswith(".md"):
            old, new = (RELATIVE.findall(text.decode()) for text in (before, after))
            assert len(old) == len(new)
            for was, now in zip(old, new, strict=True):
                if _at(path, was) in tree.sources:
                    assert _at(translator.path(path), now) in tree.blobs, (path, was, now)


def test_anchors_that_upstream_has_are_there(tree: Tree) -> None:
    for path, before, after in pairs(tree):
        if path.endswith(".md"):
            (old, headings), (new, renamed) = map(_anchors, (before.decode(), after.decode()))
            missing = [now for was, now in zip(old, new, strict=True) if was in headings and now not in renamed]
            assert not missing, path


def test_the_pages_of_a_table_of_contents_are_there(tree: Tree) -> None:
    translator = Translator()
    for path, before, after in pairs(tree):
        if path.endswith(".rst"):
            for was, now in zip(before.decode().split("\n"), after.decode().split("\n"), strict=True):
                if _at(path, was.strip()) in tree.sources:
                    assert _at(translator.path(path), now.strip()) in tree.blobs, now


def _anchors(text: str) -> tuple[list[str], set[str]]:
    titles = {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in HEADING.findall(text)}
    return ANCHOR.findall(text), titles


def _at(path: str, link: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(path).parent.parts, *link.split("/")):
        if part == "..":
            del parts[-1:]
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def test_no_old_name_stands_without_a_reason(tree: Tree) -> None:
    assert account(tree, Config()).unjustified == ()
