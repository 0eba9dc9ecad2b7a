import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.demo.history import replay
from sync_tools.demo.patching import patched
from sync_tools.modes import EXECUTABLE
from sync_tools.tree import Blob

LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "- d", "+ e", "@@"]), min_size=1, max_size=14)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES)
def test_what_git_says_between_two_texts_leads_from_one_to_the_other(tmp_path_factory, old, new):
    folder = tmp_path_factory.mktemp("patch")
    before, after = ("".join(line + "\n" for line in lines).encode() for lines in (old, new))
    for name, data in (("a", before), ("b", after)):
        (folder / name).mkdir()
        (folder / name / "f").write_bytes(data)
    command = ["git", "diff", "--no-index", "--no-prefix", "a/f", "b/f"]
    patch = subprocess.run(command, cwd=folder, capture_output=True).stdout
    assert patched({"f": Blob(before)}, patch)["f"].data == after


def test_a_patch_that_does_not_fit_is_refused_with_the_line():
    patch = b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    assert patched({"f": Blob(b"one\ntwo\n", EXECUTABLE)}, patch) == {"f": Blob(b"one\nthree\n", EXECUTABLE)}
    with pytest.raises(ValueError, match="f:2"):
        patched({"f": Blob(b"one\nelse\n")}, patch)


def test_an_editor_that_strips_blanks_at_line_ends_does_no_harm():
    patch = b"--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n\n one\n+two\n"
    assert patched({"f": Blob(b"\none\n")}, patch)["f"].data == b"\none\ntwo\n"


def test_a_history_is_told_in_files_patches_and_words(tmp_path):
    (tmp_path / "one" / "d").mkdir(parents=True)
    (tmp_path / "one" / "d" / "f").write_text("a\nb\n")
    (tmp_path / "two.patch").write_text("--- a/g\n+++ b/g\n@@ -2 +2 @@\n-b\n+é\n")
    (tmp_path / "history.toml").write_text(
        """
[[step]]
folder = "one"
subject = "one (#1)"
author = "A <a@example.org>"
date = "1 +0000"
executable = ["d/f"]

[[step]]
folder = "two"
subject = "two (#2)"
author = "A <a@example.org>"
date = "2 +0000"
moves = { "d/f" = "g" }
empty = ["h"]

[[step]]
subject = 'Revert "two (#2)" (#3)'
author = "A <a@example.org>"
date = "3 +0000"
undo = true
"""
    )
    one, two, three = (commit.state for commit in replay(tmp_path))
    assert one == three == {"d/f": Blob(b"a\nb\n", EXECUTABLE)}
    assert two == {"g": Blob("a\né\n".encode(), EXECUTABLE), "h": Blob(b"")}
