"""Revisions, numbers and messages that are not what they seem."""

import subprocess
import time

import pytest

from sync_tools.config import parse
from sync_tools.errors import SyncError
from sync_tools.ledger.escape import words
from sync_tools.ledger.reverts import named
from sync_tools.plan.relations import mentions
from sync_tools.upstream.history import Message, number_of

ASKED = [
    ("plan", "--cutoff", "main~3", "--tip"),
    ("status", "--cutoff"),
    ("status", "--cutoff", "main~3", "--tip"),
    ("init", "--cutoff"),
    ("port", "--as", "x", "--tip", "main", "--cutoff"),
    ("port", "1921", "--base"),
    ("plan", "1921", "--tip"),
    ("seam", "sites", "--at"),
]


@pytest.mark.parametrize("rev", ["", "^main", "-main", "main..main"])
def test_what_names_no_commit_is_refused_and_never_taken_as_left_out(rev, sync, imported, upstream):
    fork = imported(1921)
    for asked in ASKED:
        answer = sync(*asked[:-1], f"{asked[-1]}={rev}", repo=fork, upstream=upstream)
        assert answer.code == 2 and "git failed" not in answer.err, (asked, answer)
    assert not (fork / "sync.toml").exists()


@pytest.mark.parametrize("digits", ["0", "00012", "9" * 30, "\u0661\u0662"])
def test_what_is_no_number_of_a_pull_request(digits):
    assert number_of(f"Something (#{digits})") is None and number_of("Something (#12)") == 12


def test_a_window_with_such_numbers_is_ported(sync, imported, upstream, tmp_path, git):
    odd = tmp_path / "odd"
    subprocess.run(["git", "clone", "-q", str(upstream), str(odd)], check=True)
    for digits in ("0", "9" * 30):
        (odd / "train.py").write_text((odd / "train.py").read_text() + f"# {digits}\n")
        git(odd, "commit", "-qam", f"Odd (#{digits})")
    answer = sync(
        "port", "--cutoff", "HEAD~2", "--tip", "HEAD", "--as", "odd", "--dry-run", repo=imported(1921), upstream=odd
    )
    assert answer.code in (0, 1), answer.err


LONG = ["x", " ", "a.", "a/", "(#1) ", "fix ", "close ", "\t\r", "`a#", "--a", "a_"]


@pytest.mark.parametrize("unit", LONG)
def test_a_huge_message_costs_no_more_than_its_length(unit):
    text = "close" + unit * (60_000 // len(unit)) + "x"
    began = time.monotonic()
    mentions(Message("0" * 40, 1, text, text, "A", 0), "THUDM/slime")
    named(f'Revert "{text}"', text, "THUDM/slime", lambda: [("1" * 40, text)])
    words(text, "THUDM/slime")
    assert time.monotonic() - began < 5


def test_a_mention_may_name_its_repository():
    said = Message("0" * 40, 1, "After THUDM/slime#12, other/repo#13 and #14", "", "A", 0)
    assert mentions(said, "THUDM/slime") == (12, 14)


@pytest.mark.parametrize("content", ["x = " + "[" * 3000, "schema = " + "9" * 6000])
def test_a_configuration_that_no_parser_bears(content):
    with pytest.raises(SyncError):
        parse(content, "sync.toml")
