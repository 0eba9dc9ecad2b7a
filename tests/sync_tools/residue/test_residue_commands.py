"""The budget of leftovers: what is there, what is allowed, and that a number grows only with a reason."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sync_tools.commands.options import Settings

ENGINE = 'import os\n\nURL = os.environ["SLIME_URL"]\nNAME = "sglang"\n'


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """A fork with four leftovers in two files, one of them a module of the old engine, and words that are protected."""
    files = {
        "vime/engine.py": ENGINE,
        "vime/tools.py": "from sglang.srt.utils import kernel\n\n# see https://github.com/THUDM/slime/pull/1\nkernel()\n",
        "docs/usage.md": "This began as slime. Adapted from SGLang. THUDM/slime#3\n\n```\nrun --sglang-x\n```\n",
        "docker/Dockerfile": "FROM lmsysorg/sglang:dev\nRUN pip install sglang\n",
        "ledgers/slime-1.md": "slime, in `sglang`\n",
        "sync.toml": "schema = 1\n# sglang\n",
    }
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "fork"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    return tmp_path


@pytest.fixture
def asked(sync: Callable, fork: Path) -> Callable[..., tuple[int, dict]]:
    """The exit code and the object of `sync residue ...`."""

    def run(*words: str) -> tuple[int, dict]:
        answer = sync("residue", *words, "--json", repo=fork)
        return answer.code, json.loads(answer.out)

    return run


def places(value: dict, key: str = "problems") -> list[tuple[str, int, str]]:
    return [(p["path"], p["line"], p["word"]) for p in value[key]]


ALL = [
    ("docs/usage.md", 4, "--sglang-x"),
    ("vime/engine.py", 3, "SLIME_URL"),
    ("vime/engine.py", 4, "sglang"),
    ("vime/tools.py", 1, "sglang.srt.utils"),
]


def test_every_leftover_without_a_row_is_a_problem_with_its_line_and_the_fix(asked, sync, fork):
    code, value = asked("check")
    assert (code, places(value), value["leftovers"]) == (1, ALL, 4)
    said = sync("residue", "check", repo=fork).out
    assert "vime/engine.py:4: `sglang` has no row in residue.toml; translate it, or vime-sync residue update" in said


def test_with_a_reason_for_each_the_check_passes_and_the_list_tells_them(asked):
    assert asked("update", "--reason", "shown to users", "--only", "docs/**")[0] == 1
    assert asked("update", "--reason", "read by the launcher", "--until", "2099-01-01")[0] == 0
    assert asked("check") == (0, {"schema": 1, "leftovers": 4, "problems": [], "shrinkable": []})
    rows = asked("list")[1]["leftovers"]
    assert {(r["path"], r["reason"], r["until"]) for r in rows} == {
        ("docs/usage.md", "shown to users", None),
        ("vime/engine.py", "read by the launcher", "2099-01-01"),
        ("vime/tools.py", "read by the launcher", "2099-01-01"),
    }
    assert all(r["who"] == "Ada Maintainer <ada@example.org>" and r["allowed"] for r in rows)


def test_without_a_reason_nothing_is_raised(asked, fork):
    code, value = asked("update")
    assert (code, value["rows"], value["unexplained"], value["written"]) == (1, [], 4, [])
    assert not (fork / "residue.toml").exists()


def test_growth_fails_and_is_written_down_only_with_a_reason(asked, fork):
    asked("update", "--reason", "read by the launcher")
    (fork / "vime/engine.py").write_text(ENGINE + 'AGAIN = "sglang"\n')
    code, value = asked("check")
    assert (code, places(value)) == (1, [("vime/engine.py", 4, "sglang"), ("vime/engine.py", 5, "sglang")])
    before = (fork / "residue.toml").read_text()
    assert asked("update")[0] == 1
    assert (fork / "residue.toml").read_text() == before
    code, value = asked("update", "--reason", "and by its twin")
    assert (code, [r["change"] for r in value["rows"]]) == (0, ["raised"])
    assert value["rows"][0]["after"]["reason"] == "read by the launcher; and by its twin"
    assert asked("check")[0] == 0


def test_what_went_can_shrink_and_update_writes_it_down(asked, fork):
    asked("update", "--reason", "read by the launcher")
    (fork / "vime/engine.py").write_text("")
    code, value = asked("check")
    assert (code, [(r["path"], r["word"], r["found"]) for r in value["shrinkable"]]) == (
        0,
        [("vime/engine.py", "SLIME_URL", 0), ("vime/engine.py", "sglang", 0)],
    )
    code, value = asked("update")
    assert (code, [r["change"] for r in value["rows"]]) == (0, ["removed", "removed"])
    assert "vime/engine.py" not in (fork / "residue.toml").read_text()


def test_a_number_is_lowered_and_comments_stay(asked, fork):
    (fork / "residue.toml").write_text(
        '# ours\nschema = 1\n\n[[leftover]] # all of it\npath = "**"\ncount = 9\nreason = "not looked at yet"\n'
    )
    assert asked("update")[0] == 0
    content = (fork / "residue.toml").read_text()
    assert "# ours" in content and "# all of it" in content and "count = 4" in content


def test_a_row_that_ran_out_comes_back(asked, fork, monkeypatch):
    from datetime import date

    asked("update", "--reason", "read by the launcher", "--until", "2027-03-31")
    monkeypatch.setattr(Settings, "today", date(2027, 3, 31))
    assert asked("check")[0] == 0
    monkeypatch.setattr(Settings, "today", date(2027, 4, 1))
    code, value = asked("check")
    assert (code, sorted(places(value))) == (1, ALL)
    assert "until 2027-03-31 (read by the launcher)" in value["problems"][0]["what"]
    assert asked("update")[0] == 1, "nothing is renewed without a reason"
    assert asked("update", "--reason", "the launcher still does", "--until", "2027-12-31")[0] == 0
    assert asked("check")[0] == 0


def test_sites_carry_the_reason_for_which_translation_left_them(asked, fork):
    code, value = asked("update", "--sites")
    assert code == 1
    told = {r["after"]["path"]: r["after"]["reason"] for r in value["rows"]}
    assert told.keys() == {"vime/tools.py", "docs/usage.md"} and "no counterpart" in told["vime/tools.py"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[[leftover]]\npath = "a"\ncount = 1\n', "reason"),
        ('[[leftover]]\npath = "../a"\ncount = 1\nreason = "why not"\n', "inside the tree"),
        ('[[leftover]]\npath = "a"\ncount = 0\nreason = "why not"\n', "count"),
        ('[[leftover]]\npath = "a"\ncount = 1\nreason = "why not"\nuntil = "soon"\n', "day"),
        ("[[leftover", "TOML"),
    ],
)
def test_a_bad_budget_is_refused_with_its_line(asked, fork, content, said):
    (fork / "residue.toml").write_text(content)
    code, value = asked("check")
    assert code == 2
    assert said in value["error"]["what"]
    assert value["error"]["where"].startswith("residue.toml:")


def test_a_day_alone_is_no_reason(asked):
    assert asked("update", "--until", "2027-01-01")[0] == 2
    assert asked("update", "--reason", "because", "--until", "soon")[0] == 2


def test_a_dry_run_writes_nothing(asked, fork):
    code, value = asked("update", "--reason", "because", "--dry-run")
    assert (code, value["written"], len(value["rows"])) == (0, [], 4)
    assert not (fork / "residue.toml").exists()


def test_a_path_with_signs_of_globs_gets_a_row_of_its_own(asked, fork):
    (fork / "a[1]*.py").write_text('X = "sglang"\n')
    (fork / "a1z.py").write_text('X = "sglang"\n')
    asked("update", "--reason", "because", "--only", "a[[]1[]][*].py")
    assert ("a1z.py", 1, "sglang") in places(asked("check")[1])
    assert ("a[1]*.py", 1, "sglang") not in places(asked("check")[1])
