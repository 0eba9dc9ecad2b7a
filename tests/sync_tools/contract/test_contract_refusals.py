"""Wrong usage and environments: exit code 2, the error object, and nothing changed; every command takes the common options."""

import re

import pytest

COMMANDS = {
    "fetch": (),
    "translate": ("x.py",),
    "import": ("--at", "main", "--to", "elsewhere"),
    "port": ("1921",),
    "ledger list": (),
    "ledger show": ("1921",),
    "ledger check": (),
    "ledger resolve": ("1921", "ab", "--as", "dropped", "--why", "no"),
    "ledger evidence": ("1921", "--level", "unit", "--log", "x.log"),
    "ci render": (),
    "ci check": (),
    "ci add": ("test_x.py", "--job", "e2e-test-short"),
    "ci move": ("test_x.py", "--to", "e2e-test-short"),
    "init": (),
    "replay": ("--from", "main~2", "--to", "main", "--workdir", "new"),
    "plan": ("1921",),
    "status": (),
    "ledger worksheet": ("1921",),
    "residue check": (),
    "residue list": (),
    "residue update": (),
    "seam sites": ("--at", "main"),
    "seam check": (),
    "seam snapshot": ("--engine", "python", "--out", "new"),
}
every_command = pytest.mark.parametrize("command", COMMANDS)


def refused(answer: tuple[int, dict], *words: str) -> None:
    code, value = answer
    assert code == 2, value
    for word in words:
        assert word in " ".join(value["error"].values())


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@every_command
def test_takes_the_common_options(sync, command):
    said = sync(*command.split(), "--help").out
    assert {"--upstream", "--repo", "--config", "--json"} <= set(re.findall(r"--\w+", said))


@every_command
def test_a_bad_configuration(ask, tmp_path, command):
    config = tmp_path / "bad.toml"
    config.write_text("schema = 1\nlegders = 'x'\n")
    refused(ask(command, *COMMANDS[command], config=config, repo=tmp_path), "bad.toml:2", "legders")


@every_command
def test_a_folder_that_is_not_there(ask, tmp_path, command):
    refused(ask(command, *COMMANDS[command], repo=tmp_path / "gone"), "gone")


@every_command
def test_an_unknown_option(ask, tmp_path, command):
    refused(ask(command, *COMMANDS[command], "--frobnicate", repo=tmp_path), "--frobnicate", command)


@pytest.mark.parametrize(
    "command", [c for c in COMMANDS if c.split()[0] in ("port", "ledger", "ci", "plan", "status", "residue")]
)
def test_a_folder_without_a_repository(ask, tmp_path, command):
    refused(ask(command, *COMMANDS[command], repo=tmp_path), "not a git repository")


@pytest.mark.parametrize("command", ["import", "port", "ledger check"])
def test_a_url_that_was_never_fetched(ask, ported, command):
    url = "https://example.org/THUDM/slime.git"
    refused(ask(command, *COMMANDS[command], upstream=url, repo=ported), "fetch")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("port", ()),
        ("port", ("x",)),
        ("port", ("4711",)),
        ("port", ("1920", "1921")),
        ("port", ("1921", "1921", "--as", "twice")),
        ("port", ("--commit", "0" * 40)),
        ("port", ("1921", "--base", "gone")),
        ("port", ("1921", "--as", "../x")),
        ("port", ("1921", "--bring", "../x")),
        ("port", ("1921", "--bring", "slime/no.py")),
        ("port", ("--continue",)),
        ("port", ("--abort",)),
        ("port", ("--continue", "--abort")),
        ("import", ("--at", "gone", "--to", "new")),
        ("translate", ("gone.py",)),
        ("translate", ("-", "--path", "../x.py")),
        ("ledger show", ("4711",)),
        ("ledger show", ("x",)),
        ("ledger show", ("1921", "--format", "pdf")),
        ("ledger check", ("4711",)),
        ("ledger resolve", ("1921", "zz", "--as", "dropped", "--why", "no")),
        ("ledger resolve", ("1921", "", "--as", "dropped", "--why", "no")),
        ("ledger evidence", ("1921", "--level", "proven", "--log", "run.log")),
        ("ledger evidence", ("1921", "--level", "smoke", "--log", "gone.log")),
        ("ledger evidence", ("1921", "--level", "smoke", "--log", "run.log")),
        ("ci add", ("test_gone.py", "--job", "e2e-test-short")),
        ("ci add", ("test_qwen3_4B_streaming_partial_rollout.py", "--job", "gone")),
        ("ci move", ("test_gone.py", "--to", "e2e-test-short")),
        ("ci check", ("--base", "gone")),
    ],
)
def test_wrong_usage_changes_nothing(ask, ported, tmp_path, git, command, words):
    (tmp_path / "run.log").write_text("nothing to see\n")
    before = git(ported, "for-each-ref"), git(ported, "status", "--porcelain", "--ignored")
    git(ported, "checkout", "-q", "--detach")
    refused(ask(command, *words, repo=ported))
    assert before == (git(ported, "for-each-ref"), git(ported, "status", "--porcelain", "--ignored"))
    assert not (tmp_path / "new").exists()


def test_a_decision_that_cannot_be_one(ask, ported):
    entry = ask("ledger show", 1921, repo=ported)[1]["ledger"]["entries"][0]["id"]
    decide = ("ledger resolve", 1921, entry)
    refused(ask(*decide, repo=ported, **{"as": "ported", "why": "it is"}), "ported")
    refused(ask(*decide, repo=ported, **{"as": "dropped", "why": " "}), "reason")
    refused(ask(*decide, repo=ported, **{"as": "dropped", "why": "no", "until": "soon"}), "soon")


def test_without_a_git_identity_nothing_is_written(ask, imported, git, monkeypatch):
    fork = imported(1921)
    for name in ("NAME", "EMAIL"):
        monkeypatch.delenv(f"GIT_COMMITTER_{name}")
    monkeypatch.setenv("EMAIL", "")
    refused(ask("port", 1921, repo=fork), "git config user.name")
    assert git(fork, "branch", "--list", "sync/*") == ""


def test_a_group_without_a_command_is_wrong_usage(sync):
    for words in ((), ("ledger",), ("ci",)):
        assert sync(*words).code == 2


def test_an_error_is_two_lines_for_a_person(sync, tmp_path):
    answer = sync("port", "1921", repo=tmp_path / "gone")
    assert answer.code == 2 and answer.out == "" and len(answer.err.splitlines()) == 2
