"""A pack that is made in memory is one that git reads: every object, and the index by which it is found."""

import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.gitpack import FAR, Place, index, object_id, packed, trees

CONTENT = st.one_of(st.binary(max_size=5000), st.binary(max_size=40).map(lambda d: d * 3000))
NAME = st.text("ab.-0é", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))


def git(where: Path, *words: str, data: bytes | None = None) -> bytes:
    return subprocess.run(["git", "-C", str(where), *words], input=data, capture_output=True, check=True).stdout


@settings(max_examples=25, deadline=None)
@given(contents=st.lists(CONTENT, max_size=12))
def test_git_reads_every_object_of_a_pack(tmp_path_factory, contents: list[bytes]) -> None:
    repo = tmp_path_factory.mktemp("repo")
    git(repo, "init", "--quiet")
    made = packed([*(("blob", data) for data in contents), ("blob", b"one more")])
    folder = repo / ".git/objects/pack"
    (folder / f"pack-{made.name}.pack").write_bytes(made.data)
    (folder / f"pack-{made.name}.idx").write_bytes(made.index)
    git(repo, "verify-pack", str(folder / f"pack-{made.name}.idx"))
    assert git(repo, "index-pack", "--stdin", data=made.data).split()[-1].decode() == made.name
    for data in contents:
        assert git(repo, "cat-file", "blob", object_id("blob", data)) == data


@settings(max_examples=25, deadline=None)
@given(paths=st.lists(st.lists(NAME, min_size=1, max_size=3).map("/".join), max_size=8, unique=True))
def test_trees_are_those_that_git_makes(tmp_path_factory, paths: list[str]) -> None:
    paths = [p for p in paths if not any(q.startswith(f"{p}/") for q in paths)]
    repo = tmp_path_factory.mktemp("repo")
    git(repo, "init", "--quiet")
    oid = git(repo, "hash-object", "-w", "--stdin", data=b"x").decode().strip()
    git(repo, "update-index", "-z", "--index-info", data="".join(f"100644 {oid}\t{p}\0" for p in paths).encode())
    root, made = trees(dict.fromkeys(paths, (33188, oid)))
    assert root == git(repo, "write-tree").decode().strip()
    assert {object_id("tree", data) for data in made} >= {root}


def test_an_offset_that_32_bits_do_not_hold_has_a_table_of_its_own() -> None:
    far = {b"\2" * 20: FAR + 5, b"\1" * 20: 7 * FAR, b"\3" * 20: 12}
    made = index([Place(oid, 9, offset) for oid, offset in far.items()], b"\0" * 20)
    shown = subprocess.run(["git", "show-index"], input=made, capture_output=True, check=True).stdout
    assert shown.decode().split("\n")[:3] == [f"{offset} {oid.hex()} (00000009)" for oid, offset in sorted(far.items())]
