import contextlib
import time

import pytest

from sync_tools.ci.literal import Block, LiteralError, Map, Name, Opaque, Scalar, Seq, Sum, set_blocks


def value(expression: str) -> object:
    (block,) = set_blocks(f"<% set x = {expression} %>\n")
    return block.value


def scalars(node: object) -> list[object]:
    assert isinstance(node, Seq)
    return [item.value for item in node.items if isinstance(item, Scalar)]


def test_scalars_are_read_as_the_template_language_reads_them() -> None:
    node = value(r"""['a', "it's", 'a\'b', 'one ' "two", 8, -1, 1.5, True, true, False, None, none]""")
    assert scalars(node) == ["a", "it's", "a'b", "one two", 8, -1, 1.5, True, True, False, None, None]


def test_nodes_stand_where_their_text_stands() -> None:
    text = "é\n<% set x = {'a': [1, 2], } %>\n"
    (block,) = set_blocks(text)
    assert isinstance(block.value, Map)
    entry = block.value.items[0]
    assert text[entry.start : entry.end] == "'a': [1, 2]"
    assert text[entry.value.start : entry.value.end] == "[1, 2]"
    assert text[block.start : block.end] == text[2:]


@pytest.mark.parametrize("expression", ["a + [1]", "[1] + a + b"])
def test_lists_may_be_added_and_named(expression: str) -> None:
    node = value(expression)
    assert isinstance(node, Sum)
    assert {part.id for part in node.parts if isinstance(part, Name)} <= {"a", "b"}


@pytest.mark.parametrize(
    "expression", ["rows | list", "'a' ~ b", "f(x, [1, 2])", "a if b else c", "not x", "(1, 2)", "a[0]"]
)
def test_anything_else_is_opaque_and_spans_its_text(expression: str) -> None:
    text = f"<% set x = [{expression}, 1] %>"
    (block,) = set_blocks(text)
    assert isinstance(block.value, Seq)
    opaque, one = block.value.items
    assert isinstance(opaque, Opaque)
    assert text[opaque.start : opaque.end] == expression
    assert isinstance(one, Scalar) and one.value == 1


def test_an_end_of_tag_in_a_string_or_behind_a_comment_sign_does_not_confuse() -> None:
    blocks = set_blocks("<% set a = ['%>'] %>\n<%- set b = [1, # it's one\n 2] -%>")
    assert [block.name for block in blocks] == ["a", "b"]
    assert scalars(blocks[1].value) == [1, 2]


def test_comments_raw_parts_and_other_tags_hold_no_blocks() -> None:
    text = "{# <% set a = [1] %> #}<% raw %><% set b = 1 %><% endraw %><% if c %><% endif %><% set d %>x<% endset %>"
    assert set_blocks(text) == ()


def test_a_block_takes_the_newline_that_ends_its_line() -> None:
    assert set_blocks("<% set a = 1 %>\r\nx") == (Block(0, 17, "a", Scalar(11, 12, 1)),)
    assert set_blocks("<% set a = 1 %> x")[0].end == 15


@pytest.mark.parametrize(
    "text", ["<% set x = [1", "<% set x = {'a'} %>", "<% set x = [1 2] ] %>", "<% set x = [1, %>", "<% set x = '"]
)
def test_a_literal_that_makes_no_sense_is_an_error_that_says_where(text: str) -> None:
    with pytest.raises(LiteralError) as caught:
        set_blocks(text)
    assert 0 <= caught.value.offset <= len(text)


def test_deep_nesting_is_an_error_and_long_lists_are_not() -> None:
    with pytest.raises(LiteralError, match="deep"):
        set_blocks(f"<% set x = {'[' * 5000} %>")
    assert len(scalars(value("[" + "1, " * 20_000 + "]"))) == 20_000


@pytest.mark.parametrize(
    "text", ["{#" * 200_000, "<% raw %>" * 50_000, "<% set x = " + "\\'" * 200_000, "<% set x=[" * 50_000]
)
def test_a_hostile_text_is_read_in_linear_time(text: str) -> None:
    start = time.monotonic()
    with contextlib.suppress(LiteralError):
        set_blocks(text)
    assert time.monotonic() - start < 3
