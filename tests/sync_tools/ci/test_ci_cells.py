import pytest

from sync_tools.ci.cells import Cell, arranged, fitted, join, split
from sync_tools.ci.literal import Map, Seq, set_blocks

STYLES = [
    "[]",
    "[\n  ]",
    "[1]",
    "[1, 2,3]",
    "[ 1, 2, ]",
    "[\n    1,\n    2,\n]",
    "[\n    1,\n\n    # two, not one\n    2  # no comma\n]",
    "[\r\n    1 , # one,\r\n    2,\r\n  ]",
    "[1,\n 2]",
    "{'a': 1, 'b': [1, 2]}",
    "{\n  'a': 1,   \n  'b': {'c': 2},\n}",
]


def parsed(text: str) -> tuple[str, Seq | Map]:
    source = f"<% set x = {text} %>"
    (block,) = set_blocks(source)
    assert isinstance(block.value, (Seq, Map))
    return source, block.value


@pytest.mark.parametrize("text", STYLES)
def test_cutting_and_joining_changes_nothing(text: str) -> None:
    source, node = parsed(text)
    cells = split(source, node)
    assert join(cells) == text
    assert join(arranged(cells, cells.cells)) == text


@pytest.mark.parametrize(
    ("text", "end", "start", "without"),
    [
        ("[1, 2]", "[1, 2, 9]", "[9, 1, 2]", "[2]"),
        ("[]", "[9]", "[9]", "[]"),
        ("[\n  ]", "[\n    9,\n  ]", "[\n    9,\n  ]", None),
        ("[\n    1,\n    2,\n]", "[\n    1,\n    2,\n    9,\n]", "[\n    9,\n    1,\n    2,\n]", "[\n    2,\n]"),
        ("[\n  1, # a\n  2 # b\n]", "[\n  1, # a\n  2, # b\n  9\n]", "[\n  9,\n  1, # a\n  2 # b\n]", "[\n  2 # b\n]"),
        ("[\n  1,\n\n  2,\n]", "[\n  1,\n\n  2,\n  9,\n]", "[\n  9,\n  1,\n\n  2,\n]", "[\n\n  2,\n]"),
        ("[1,\n 2]", "[1,\n 2,\n 9]", "[9,\n 1,\n 2]", "[2]"),
    ],
)
def test_a_cell_is_written_as_its_neighbours_are(text: str, end: str, start: str, without: str | None) -> None:
    cells = split(*parsed(text))
    source = split(*parsed("[\n        9,\n]"))
    new = fitted(source.cells[0], source, cells, "\n")
    assert join(arranged(cells, [*cells.cells, new])) == end
    assert join(arranged(cells, [new, *cells.cells])) == start
    if without is not None:
        assert join(arranged(cells, cells.cells[1:])) == without


def test_a_cell_of_many_lines_is_indented_anew_with_its_comments() -> None:
    source = split(*parsed("{\n  'a': 1,\n\n  # b\n  'b': {\n    'c': 2,\n  },  # end\n}"))
    target = split(*parsed("{\r\n        'z': 1,\r\n}"))
    new = fitted(source.cells[1], source, target, "\r\n")
    assert new == Cell("\r\n\r\n        # b\r\n        ", "'b': {\r\n          'c': 2,\r\n        }", "", "  # end")
