"""`sync import` as a command: what a person reads in a pipe, what a program reads, and its exit codes."""

import json
import re
from pathlib import Path


def test_a_person_reads_kinds_reasons_and_sites_without_a_colour(sync, upstream: Path, tmp_path: Path) -> None:
    said = sync("import", "--at", "HEAD", "--to", tmp_path / "fork", upstream=upstream)
    assert said.code == 1
    assert "\x1b" not in said.out
    lines = said.out.splitlines()
    assert lines[0].split() == ["kind", "files", "translated", "as", "upstream"]
    assert any(line.startswith("Python ") for line in lines)
    assert "  patches to SGLang's own sources; they have no meaning for vLLM" in lines
    assert "    docker/patch/latest/sglang.patch" in lines
    assert "old names that nothing keeps: 0" in lines
    assert any(line.startswith("rules that applied nowhere: SY") for line in lines)
    assert lines[-3].startswith(f"{sum(int(line.split()[-3]) for line in lines[1 : lines.index('')])} files of ")
    assert re.fullmatch(r"Waits for a person, so the exit code is 1: \d+ unresolved sites\.", lines[-2])
    assert lines[-1].startswith("Next: cd ")


def test_a_program_reads_the_same(sync, upstream: Path, tmp_path: Path) -> None:
    said = sync("import", "--at", "HEAD", "--to", tmp_path / "fork", "--json", upstream=upstream)
    value = json.loads(said.out)
    assert value["schema"] == 1
    assert value["files"] == value["translated"] + value["identical"] == sum(kind["files"] for kind in value["kinds"])
    assert value["dropped"] == len(value["dropped_paths"]) > 0
    assert all(dropped["reason"] and dropped["policy"] for dropped in value["dropped_paths"])
    assert sum(group["sites"] for group in value["unresolved_groups"]) == len(value["unresolved"]) > 0
    assert value["unjustified"] == [] and value["standing"]
    assert said.code == 1


def test_a_tree_with_nothing_left_to_do_exits_with_0(sync, git, tmp_path: Path) -> None:
    (tmp_path / "slime").mkdir()
    (tmp_path / "slime" / "a.py").write_text("import slime\n")
    git(tmp_path, "init", "--quiet", "slime")
    git(tmp_path / "slime", "add", "-A")
    git(tmp_path / "slime", "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "first")
    assert sync("import", "--at", "HEAD", "--to", tmp_path / "fork", upstream=tmp_path / "slime").code == 0


def test_an_old_name_that_nothing_keeps_exits_with_1(sync, git, tmp_path: Path) -> None:
    (tmp_path / "slime").mkdir()
    (tmp_path / "slime" / "a.txt").write_text("xslime\n")
    git(tmp_path, "init", "--quiet", "slime")
    git(tmp_path / "slime", "add", "-A")
    git(tmp_path / "slime", "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "first")
    said = sync("import", "--at", "HEAD", "--to", tmp_path / "fork", upstream=tmp_path / "slime")
    assert said.code == 1
    assert "  a.txt:1: xslime" in said.out.splitlines()
