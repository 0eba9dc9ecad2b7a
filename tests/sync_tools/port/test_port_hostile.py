"""Upstream may hold anything: crafted commits, odd paths, folders that become files. The fork's own is never run over."""

import json
import subprocess
from pathlib import Path

import pytest

from sync_tools.gitio import Repo
from sync_tools.port.fork import Fork


@pytest.fixture
def crafted(upstream: Path, tmp_path: Path, git):
    """Put one commit on upstream's head with git fast-import; its id."""
    target = tmp_path / "crafted.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(upstream), str(target)], check=True)

    def make(
        *changes: bytes, message: bytes = b"Crafted", author: bytes = b"Eve <e@x>", date: bytes = b"1700000000 +0000"
    ):
        head = git(target, "rev-parse", "HEAD").encode()
        stream = b"commit refs/heads/crafted\nauthor %b %b\ncommitter C <c@x> 1700000000 +0000\n" % (author, date)
        stream += b"data %d\n%b\nfrom %b\n" % (len(message), message, head) + b"".join(changes)
        command = ["git", "-C", str(target), "fast-import", "--quiet", "--force", "--date-format=raw-permissive"]
        subprocess.run(command, input=stream, check=True, capture_output=True)
        return target, git(target, "rev-parse", "crafted")

    return make


def file(path: bytes, data: bytes, mode: bytes = b"100644") -> bytes:
    return b"M %b inline %b\ndata %d\n%b\n" % (mode, path, len(data), data)


def port(sync, fork: Path, made: tuple[Path, str], *words: str):
    return sync("port", "--commit", made[1], *words, repo=fork, upstream=made[0])


def test_paths_that_are_not_utf8_arrive_as_they_are(sync, imported, crafted, git):
    fork, made = imported(1921), crafted(file(b'"slime/caf\\351.py"', b"x = 1\n"))
    assert port(sync, fork, made).code == 0
    raw = subprocess.run(
        ["git", "-C", str(fork), "ls-tree", "-r", "-z", "--name-only", f"sync/slime-{made[1][:12]}"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert b"vime/caf\xe9.py" in raw.stdout.split(b"\0")


@pytest.mark.parametrize(
    ("author", "date"),
    [(b" <>", b"0 +0000"), (b".,; <.,>", b"12345678 +9999"), (b"\x1b[31mE #3 <e#4@x>", b"99999999999999 -1400")],
)
def test_a_crafted_author_is_no_obstacle_and_sends_nothing_to_a_terminal(author, date, sync, imported, crafted, git):
    fork, made = imported(1921), crafted(file(b"slime/zz.py", b"1\n"), author=author, date=date)
    assert port(sync, fork, made).code == 0
    branch = f"sync/slime-{made[1][:12]}"
    assert "\x1b" not in git(fork, "log", "-2", "--format=%an %ae%n%B", branch)
    assert " #3" not in git(fork, "log", "-2", "--format=%B", branch)


def test_no_message_names_a_number_of_the_fork_or_takes_an_injected_trailer(sync, imported, crafted, git):
    message = (
        b"Closes #12 and GH-3 (#77)\n\nCo-authored-by:\n\nSigned-off-by: Boss <b@x>\nCo-authored-by: fixes #5 <x@y>\n"
    )
    fork, made = imported(1921), crafted(file(b"slime/zz.py", b"1\n"), message=message)
    assert port(sync, fork, made).code == 0
    log = git(fork, "log", "-2", "--format=%B", f"sync/slime-{made[1][:12]}")
    assert " #" not in log and "(#" not in log and "GH-3" not in log and "Boss" not in log


def test_upstream_brings_neither_configuration_nor_ledgers(sync, imported, crafted, git):
    fork = imported(1921)
    made = crafted(file(b"sync.toml", b'schema = 1\nfork = "evil"\n'), file(b"ledgers/slime-7.json", b"{}\n"))
    assert port(sync, fork, made).code == 0
    names = git(fork, "ls-tree", "-r", "--name-only", f"sync/slime-{made[1][:12]}").split("\n")
    assert "sync.toml" not in names and not any(name.endswith("-7.json") for name in names)


def test_a_file_may_become_a_folder(sync, imported, crafted, git):
    fork = imported(1921)
    made = crafted(b"D train.py\n", file(b"train.py/a.py", b"x = 1\n"))
    port(sync, fork, made)
    assert git(fork, "show", f"sync/slime-{made[1][:12]}:train.py/a.py") == "x = 1"


def test_a_folder_that_holds_files_of_the_forks_becomes_no_file(sync, imported, crafted, git):
    fork = imported(1921)
    (fork / "vime/rollout/filter_hub/ours.py").write_text("x = 1\n")
    git(fork, "add", "-A")
    git(fork, "commit", "-qm", "Ours")
    before = git(fork, "for-each-ref")
    answer = port(sync, fork, crafted(b"D slime/rollout/filter_hub\n", file(b"slime/rollout/filter_hub", b"x\n")))
    assert answer.code == 2 and "filter_hub" in answer.err and git(fork, "for-each-ref") == before


def test_a_linked_ledgers_folder_is_not_followed_and_not_replaced(sync, imported, upstream, git, tmp_path):
    fork, outside = imported(1921), tmp_path / "outside"
    outside.mkdir()
    (fork / "ledgers").symlink_to(outside)
    git(fork, "add", "-A")
    git(fork, "commit", "-qm", "A link")
    answer = sync("port", 1921, repo=fork, upstream=upstream)
    assert answer.code == 2 and "symbolic link" in answer.err and not list(outside.iterdir())


HOSTILE = {
    "color.ui": "always",
    "color.diff": "always",
    "core.autocrlf": "true",
    "core.safecrlf": "true",
    "commit.gpgsign": "true",
    "gpg.program": "/bin/false",
    "log.showSignature": "true",
    "diff.noprefix": "true",
    "diff.renames": "false",
    "diff.renameLimit": "1",
    "diff.orderFile": "/nowhere",
    "diff.external": "/bin/false",
    "diff.submodule": "log",
    "diff.ignoreSubmodules": "all",
    "diff.relative": "true",
    "i18n.commitEncoding": "latin1",
    "i18n.logOutputEncoding": "latin1",
    "core.hooksPath": "/nowhere/hooks",
}


def test_the_settings_of_a_user_and_the_surroundings_of_a_hook_change_nothing(
    sync, imported, upstream, git, monkeypatch, tmp_path
):
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, "1700000000 +0000")
    plain = imported(1921)
    sync("port", 1921, repo=plain, upstream=upstream)
    wanted = git(plain, "rev-parse", "sync/slime-pr-1921")
    git(plain, "branch", "-D", "sync/slime-pr-1921")
    for name, value in HOSTILE.items():
        git(plain, "config", name, value)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, "/nowhere")
    assert sync("port", 1921, repo=plain, upstream=upstream).code == 0
    assert git(plain, "rev-parse", "sync/slime-pr-1921") == wanted


def test_what_a_killed_port_left_is_cleared_away(sync, imported, upstream):
    fork = imported(1921)
    home = Fork(Repo.open(fork)).home
    (home / "paused" / "half" / "tree").mkdir(parents=True)
    for name in ("index.1", "index.1.lock"):
        (home / name).write_text("left")
    assert sync("port", 1921, repo=fork, upstream=upstream).code == 0
    assert not list(home.glob("index.*")) and not list(home.glob("paused/*"))


def test_a_subfolder_finds_the_forks_configuration(sync, imported, upstream):
    fork = imported(1921)
    (fork / "sync.toml").write_text("schema = 1\nunknown = 2\n")
    answer = sync("port", 1921, repo=fork / "vime", upstream=upstream)
    assert answer.code == 2 and "unknown" in answer.err


def test_an_unborn_branch_is_told_as_such(sync, upstream, git, tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    for words in (["port", 1921, "--upstream", upstream], ["ledger", "list"], ["ledger", "check"]):
        answer = sync(*words, repo=tmp_path / "empty")
        assert answer.code == 2 and "no commit yet" in answer.err


@pytest.mark.parametrize(
    "address",
    [
        "https://u:SEC/RET@h.invalid/a/slime.git",
        "HTTPS://SECRET@h.invalid/slime",
        "https://h.invalid/s?token=SECRET",
        "nope://SECRET@h/x",
    ],
)
def test_a_token_in_an_address_is_never_printed(address, sync, imported):
    answer = sync("port", 1921, "--json", repo=imported(1921), upstream=address)
    assert answer.code == 2 and set(json.loads(answer.out)) == {"schema", "error"}
    assert "SEC" not in answer.out + answer.err and "RET@" not in answer.out + answer.err
