"""Bytes that are not plain text, conflict markers, and files that are not Python."""

import pytest

from sync_tools.merge.file import merge_file
from sync_tools.merge.markers import conflict_regions

BASE = b"one\ntwo\nthree\nfour\nfive\n"


def conflict(base, ours, theirs, path="a.txt"):
    result = merge_file(path, base, ours, theirs)
    assert result.conflicts
    return result


def test_diff3_markers():
    result = conflict(BASE, BASE.replace(b"three", b"3"), BASE.replace(b"three", b"III"))
    assert result.final == (
        b"one\ntwo\n<<<<<<< ours\n3\n||||||| base\nthree\n=======\nIII\n>>>>>>> upstream\nfour\nfive\n"
    )
    (found,) = result.conflicts
    assert (found.symbol, found.base, found.ours, found.theirs) == ("a.txt", (2, 3), (2, 3), (2, 3))
    assert result.mechanical == BASE.replace(b"three", b"3")
    assert conflict_regions(result.final) == ((2, 9),)


def test_a_conflict_is_no_larger_than_the_difference():
    result = conflict(BASE, BASE.replace(b"three", b"a\nb\nc"), BASE.replace(b"three", b"a\nB\nc"))
    assert b"a\n<<<<<<< ours\nb\n" in result.final
    assert b">>>>>>> upstream\nc\n" in result.final


def test_markers_keep_the_newlines_of_the_file():
    base = BASE.replace(b"\n", b"\r\n")
    result = conflict(base, base.replace(b"three", b"3"), base.replace(b"three", b"III"))
    assert b"\n" not in result.final.replace(b"\r\n", b"")
    assert len(conflict_regions(result.final)) == 1


def test_a_missing_final_newline_in_a_conflict():
    result = conflict(b"a\nb", b"a\nB", b"a\nbb\n")
    assert result.final == b"a\n<<<<<<< ours\nB\n||||||| base\nb\n=======\nbb\n>>>>>>> upstream\n"


def test_content_that_looks_like_markers():
    heading = b"Title\n=======\n<<<<<<< ours\ntext\n"
    base = heading + BASE
    result = conflict(base, base.replace(b"three", b"=======\n3"), base.replace(b"three", b"III"))
    assert b"<<<<<<<< ours\n=======\n3\n|||||||| base\n" in result.final
    assert len(conflict_regions(result.final)) == 1
    assert conflict_regions(base) == ()


def test_a_block_that_stood_there_before_is_content():
    block = b"<<<<<<< ours\na\n||||||| base\nb\n=======\nc\n>>>>>>> upstream\n"
    assert conflict_regions(block) == ((0, 7),)
    assert conflict_regions(block, known=b"text\n" + block) == ()
    assert conflict_regions(block[: block.index(b">>>")]) == ()


@pytest.mark.parametrize("path", ["a.txt", "a.py"])
@pytest.mark.parametrize(
    "base",
    [
        b"a = 1\r\n\r\nb = 2\r\n\r\nc = 3\r\n",
        b"a = 1\n\x0c\nb = 2\n\t\nc = 3",
        b"\xef\xbb\xbfa = 1\n\nb = 2\n\nc = 3\n",
        b"a = '\xff'\n\nb = 2\n\nc = '\xfe'\n",
        b"# -*- coding: latin-1 -*-\na = '\xe9'\nb = 2\n\nc = 3\n",
        b"a = 1\rx = 0\n\nb = 2\n\nc = 3\n",
        b"a = '''\n\n\ndef f():\n'''\nb = 2\n\nc = 3\n",
        b"def f():\n\tif a:\n\t\tb = 2\n\n\tc = 3\n",
        b"a = 1\x00\n\nb = 2\n\nc = 3\n",
    ],
    ids=["crlf", "form feed", "bom", "not utf-8", "latin-1", "lone cr", "string", "tabs", "nul"],
)
def test_bytes_come_through_unharmed(path, base):
    ours, theirs = base.replace(b"b = 2", b"b = 20"), base.replace(b"c = ", b"c  = ")
    result = merge_file(path, base, ours, theirs)
    assert not result.conflicts
    assert result.final == ours.replace(b"c = ", b"c  = ")


def test_text_changes_that_touch():
    assert not merge_file("a.sh", BASE, BASE.replace(b"two", b"2"), BASE.replace(b"three", b"3")).conflicts
    conflict(BASE, BASE.replace(b"two", b"2"), BASE.replace(b"three", b"new\nthree"))
    conflict(BASE, BASE.replace(b"two\n", b""), BASE.replace(b"three", b"3"))
    conflict(BASE, BASE.replace(b"two\n", b"two\nx\n"), BASE.replace(b"two\n", b"two\ny\n"))


def test_what_both_did_and_one_went_on_with():
    ours, theirs = BASE.replace(b"three", b"a\nb"), BASE.replace(b"three", b"a\nb\nc")
    assert merge_file("a.md", BASE, BASE + b"six\n", BASE + b"six\nseven\n").final == BASE + b"six\nseven\n"
    assert merge_file("a.md", BASE, BASE + b"six\nseven\n", BASE + b"six\n").final == BASE + b"six\nseven\n"
    assert merge_file("a.md", BASE, ours, theirs).final == theirs


def test_mechanical_text_stands_apart_from_the_forks_edits():
    ours = BASE.replace(b"one", b"1")
    theirs = BASE.replace(b"two", b"2").replace(b"five", b"5")
    result = merge_file("a.txt", BASE, ours, theirs)
    assert result.final == b"1\n2\nthree\nfour\n5\n"
    assert result.mechanical == b"1\ntwo\nthree\nfour\n5\n"


def test_files_that_both_added():
    assert merge_file("a.txt", None, b"a\n", b"a\n").final == b"a\n"
    assert merge_file("a.txt", None, b"a\n", b"a\nb\n").final == b"a\nb\n"
    assert conflict(None, b"a\nx\n", b"a\ny\n").final.startswith(b"a\n<<<<<<< ours\nx\n||||||| base\n=======\n")


def test_code_too_deep_for_recursion():
    deep = b"x = {\n    1" + b" + 1" * 5000 + b": 1,\n}\ny" + b".y" * 3000 + b".add_z('a')\n"
    ours, theirs = deep.replace(b": 1,\n", b": 1,\n    2: 2,\n"), deep.replace(b": 1,\n", b": 1,\n    3: 3,\n")
    ours, theirs = ours + b"y.add_z('b')\n", theirs + b"y.add_z('c')\n"
    assert merge_file("a.py", deep, ours, theirs).final
