"""Python of strangers is read by one function, which says nothing and fails in one way."""

import ast
import warnings
from pathlib import Path

import pytest

import sync_tools
from sync_tools.syntax import parse, parsed

DEEP = "(" * 3000 + ")" * 3000


@pytest.mark.parametrize("text", ["def", "a\0b", b"\xff\xfe", DEEP, "-" * 100_000 + "1", "# coding: nonesuch\n"])
def test_what_is_no_module_is_a_syntax_error_and_none(text):
    if text != "# coding: nonesuch\n":
        with pytest.raises(SyntaxError):
            parse(text)
    assert parsed(text.encode() if text == "# coding: nonesuch\n" else text) is None


def test_a_warning_about_strange_text_is_not_passed_on():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert parsed("A = '\\d'\nB = 1 is 1\n") is not None
    assert not said


def test_nobody_else_reads_python():
    root = Path(sync_tools.__file__).parent
    found = [str(p.relative_to(root)) for p in root.rglob("*.py") if "ast.parse(" in p.read_text("utf-8")]
    assert found == ["syntax.py"] and isinstance(parsed(b"A = 1\n"), ast.Module)
