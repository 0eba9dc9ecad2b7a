"""Python of strangers is read by one function, which says nothing and fails in one way."""

import ast
import warnings
from pathlib import Path

import pytest

import sync_tools
from sync_tools.syntax import parse, parsed, statements

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


@pytest.mark.parametrize("source", sorted(Path(sync_tools.__file__).parent.rglob("*.py"))[::20], ids=lambda p: p.name)
def test_statements_are_all_there_are(source):
    tree = parse(source.read_text("utf-8"))
    wanted = {n for n in ast.walk(tree) if isinstance(n, ast.stmt)}
    assert {n for n in statements(tree) if isinstance(n, ast.stmt)} == wanted


def test_statements_of_every_kind_of_block_however_long_a_chain():
    text = "try:\n a\nexcept E:\n b\nelse:\n c\nfinally:\n d\nmatch x:\n case 1:\n  e\nfor f in g:\n h\nelse:\n i\n"
    names = [n.value.id for n in statements(parse(text)) if isinstance(n, ast.Expr)]
    assert sorted(names) == ["a", "b", "c", "d", "e", "h", "i"]
    chain = parse("if a:\n b\n" + "elif a:\n b\n" * 150)
    assert sum(isinstance(n, ast.Expr) for n in statements(chain)) == 151


def test_nobody_else_reads_python():
    root = Path(sync_tools.__file__).parent
    found = [str(p.relative_to(root)) for p in root.rglob("*.py") if "ast.parse(" in p.read_text("utf-8")]
    assert found == ["syntax.py"] and isinstance(parsed(b"A = 1\n"), ast.Module)
