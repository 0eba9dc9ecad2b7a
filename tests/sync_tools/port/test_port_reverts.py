"""Reverts between ports: both ledgers tell them, entry by entry, also where one half was never ported or is undone again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

DATA, MISC = "slime/utils/data.py", "slime/utils/misc.py"
OURS = {DATA: "vime/utils/data.py", MISC: "vime/utils/misc.py"}


@pytest.fixture
def copy(upstream: Path, tmp_path: Path, git: Callable) -> Path:
    """Upstream, to be continued."""
    made = Path(shutil.copytree(upstream, tmp_path / "slime", symlinks=True))
    git(made, "reset", "-q", "--hard")
    return made


@pytest.fixture
def land(copy: Path, git: Callable) -> Callable[..., str]:
    """A commit on upstream's main line; a file's new text, or how its text changes."""

    def commit(subject: str, files: dict[str, str], body: str = "") -> str:
        for path, content in files.items():
            (copy / path).write_text(content)
        git(copy, "commit", "-qa", "-m", subject + (f"\n\n{body}" if body else ""))
        return git(copy, "rev-parse", "HEAD")

    return commit


@pytest.fixture
def fork(copy: Path, sync: Callable, tmp_path: Path, git: Callable) -> Callable[[str], Path]:
    def at(rev: str) -> Path:
        made = tmp_path / "fork"
        assert sync("import", at=rev, to=made, upstream=copy).code in (0, 1)
        return made

    return at


@pytest.fixture
def port(sync: Callable, copy: Path, git: Callable) -> Callable[..., None]:
    def run(fork: Path, *numbers: object) -> None:
        for number in numbers:
            named = ("--commit", number) if isinstance(number, str) else (number,)
            answer = sync("port", *named, "--json", repo=fork, upstream=copy)
            value = json.loads(answer.out)
            assert answer.code in (0, 1) and not value.get("worktree"), answer.out
            git(fork, "switch", "-q", value["branch"])

    return run


@pytest.fixture
def told(sync: Callable, copy: Path) -> Callable[[Path, object], dict]:
    def read(fork: Path, number: object) -> dict:
        return json.loads(sync("ledger", "show", number, "--json", repo=fork, upstream=copy).out)["ledger"]

    return read


@pytest.fixture
def sound(sync: Callable, copy: Path) -> Callable[[Path], list]:
    def read(fork: Path) -> list:
        return json.loads(sync("ledger", "check", "--json", repo=fork, upstream=copy).out)["problems"]

    return read


@pytest.fixture
def texts(copy: Path) -> dict[str, tuple[str, str]]:
    """Path -> its text, and that with a function more."""
    now = {path: (copy / path).read_text() for path in (DATA, MISC)}
    return {
        path: (text, f"{text}\n\ndef added_to_{n}():\n    return {n}\n") for n, (path, text) in enumerate(now.items())
    }


@pytest.fixture
def added(land: Callable, texts: dict) -> str:
    """#5001, which adds a function to two files."""
    return land("Add two functions (#5001)", {path: after for path, (_, after) in texts.items()})


def ops(ledger: dict) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for e in ledger["entries"]:
        found.setdefault(e["upstream"]["path"], set()).add(e["op"])
    return found


def test_a_revert_by_title_alone(fork, port, told, sound, land, added, texts):
    land('Revert "Add two functions" (#5002)', {path: before for path, (before, _) in texts.items()})
    made = fork(f"{added}^")
    port(made, 5001, 5002)
    assert (told(made, 5001)["reverted_by"], told(made, 5002)["reverts"]) == ("THUDM/slime#5002", ["THUDM/slime#5001"])
    assert ops(told(made, 5001)) == {DATA: {"reverted"}, MISC: {"reverted"}}
    assert sound(made) == []


def test_a_partial_revert_leaves_what_stands(fork, port, told, sound, land, added, texts):
    land('Revert "Add two functions" (#5002)', {DATA: texts[DATA][0]})
    made = fork(f"{added}^")
    port(made, 5001, 5002)
    assert ops(told(made, 5001)) == {DATA: {"reverted"}, MISC: {"ported"}}
    assert sound(made) == []
    (made / OURS[MISC]).write_text("")
    assert [p["entry"] for p in sound(made)], "what was not reverted is still claimed"


def test_a_bare_commit_is_named_by_its_hex(fork, port, told, sound, land, texts):
    first = land("Add without a number", {DATA: texts[DATA][1]})
    second = land("Undo it", {DATA: texts[DATA][0]}, f"This reverts commit {first}.")
    made = fork(f"{first}^")
    port(made, first, second)
    assert told(made, second[:12])["reverts"] == [f"THUDM/slime@{first[:12]}"]
    assert ops(told(made, first[:12])) == {DATA: {"reverted"}}
    assert sound(made) == []


def test_a_revert_of_what_was_never_ported_names_it(fork, port, told, sound, land, added, texts):
    land('Revert "Add two functions" (#5002)', {path: before for path, (before, _) in texts.items()})
    made = fork(f"{added}^")
    port(made, 5002)
    ledger = told(made, 5002)
    assert ledger["reverts"] == ["THUDM/slime#5001"]
    assert set().union(*ops(ledger).values()) <= {"present", "ported"}
    assert sound(made) == []


def test_a_change_ported_after_its_revert_stands(fork, port, told, land, added, texts, sound):
    land('Revert "Add two functions" (#5002)', {path: before for path, (before, _) in texts.items()})
    made = fork(f"{added}^")
    port(made, 5002, 5001)
    assert told(made, 5001)["reverted_by"] is None
    assert ops(told(made, 5001)) == {DATA: {"ported"}, MISC: {"ported"}}
    assert sound(made) == []


def test_a_revert_of_the_revert_brings_the_entries_back(fork, port, told, sound, land, added, texts):
    land('Revert "Add two functions" (#5002)', {path: before for path, (before, _) in texts.items()})
    land('Revert "Revert "Add two functions" (#5002)" (#5003)', {path: after for path, (_, after) in texts.items()})
    made = fork(f"{added}^")
    port(made, 5001)
    before = told(made, 5001)
    port(made, 5002, 5003)
    assert told(made, 5001) == before
    assert (told(made, 5002)["reverted_by"], told(made, 5003)["reverts"]) == ("THUDM/slime#5003", ["THUDM/slime#5002"])
    assert ops(told(made, 5002)) == {DATA: {"reverted"}, MISC: {"reverted"}}
    assert sound(made) == []


def test_half_a_revert_of_the_revert_brings_half_back(fork, port, told, sound, land, added, texts):
    land('Revert "Add two functions" (#5002)', {path: before for path, (before, _) in texts.items()})
    land('Revert "Revert "Add two functions" (#5002)" (#5003)', {MISC: texts[MISC][1]})
    made = fork(f"{added}^")
    port(made, 5001, 5002, 5003)
    assert ops(told(made, 5001)) == {DATA: {"reverted"}, MISC: {"ported"}}
    assert told(made, 5001)["reverted_by"] == "THUDM/slime#5002"
    assert ops(told(made, 5002)) == {DATA: {"ported"}, MISC: {"reverted"}}
    assert sound(made) == []


@pytest.mark.parametrize("number", [5001, 5002])
def test_a_pairing_that_is_not_so_is_a_problem(fork, port, sound, land, added, texts, number):
    land('Revert "Add two functions" (#5002)', {DATA: texts[DATA][0]})
    made = fork(f"{added}^")
    port(made, 5001, 5002)
    path = made / f"ledgers/slime-{number}.json"
    ledger = json.loads(path.read_text())
    if number == 5002:
        ledger["reverts"] = []
    else:
        for e in (e for e in ledger["entries"] if e["upstream"]["path"] == MISC):
            e |= {"op": "reverted", "link": "THUDM/slime#5002", "reason": "undone by THUDM/slime#5002"}
    path.write_text(json.dumps(ledger, indent=1, sort_keys=True) + "\n")
    assert [p for p in sound(made) if p["ledger"].endswith(f"{number}.json") and "renders" not in p["what"]]
