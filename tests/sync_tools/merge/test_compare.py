"""What a fork already has."""

from sync_tools.merge.compare import Difference, compare, contained, similar

THEIRS = b"""\
import os
import sys

LIMIT = 3


def load(path):
    with open(path) as file:
        return file.read()


class Reader:
    depth = 2

    def read(self):
        return load(self.path)

    def close(self):
        self.path = None
"""


def states(ours):
    return {d.symbol: d.state for d in compare(ours, THEIRS, "m.py")}


def test_equal_files():
    assert set(states(THEIRS).values()) == {"equal"}
    assert list(states(THEIRS)) == ["<imports>", "<module>", "load", "Reader", "Reader.read", "Reader.close"]


def test_order_of_imports_and_blank_lines_do_not_count():
    ours = THEIRS.replace(b"import os\nimport sys\n", b"import sys\nimport os\n").replace(
        b"depth = 2\n\n", b"depth = 2\n"
    )
    assert set(states(ours).values()) == {"equal"}


def test_each_definition_has_its_own_state():
    ours = THEIRS.replace(b"self.path = None", b"self.path = ''").replace(b"LIMIT = 3", b"LIMIT = 4")
    ours = ours.replace(b"def load(path)", b"def fetch(path)")
    assert states(ours) == {
        "<imports>": "equal",
        "<module>": "differs",
        "load": "missing",
        "Reader": "equal",
        "Reader.read": "equal",
        "Reader.close": "differs",
        "fetch": "extra",
    }


def test_spans_and_likeness():
    found = {d.symbol: d for d in compare(THEIRS.replace(b"file.read()", b"file.readline()"), THEIRS, "m.py")}
    assert found["load"].theirs == ((4, 9),)
    assert 0.6 < found["load"].likeness < 0.7


def test_other_files_are_compared_as_a_whole():
    assert compare(b"a\n", b"a\n", "x.sh") == (Difference("x.sh", "equal", ((0, 1),), ((0, 1),), 1.0),)
    assert compare(b"a\nb\n", b"a\nc\n", "x.sh")[0].likeness == 0.5
    assert compare(b"x = (", b"x = 1", "m.py")[0].symbol == "m.py"


def test_contained_finds_a_file_that_grew_and_moved_about():
    grown = b"# ours\n" + THEIRS[40:] + b"\n\ndef more():\n    return 'more'\n" + THEIRS[:40]
    assert contained(grown, THEIRS) > 0.9
    assert contained(b"import os\n", THEIRS) < 0.2
    assert contained(b"", b"") == 1.0


def test_similar():
    assert similar(b"a\nb\n", b"  b\n\na\n") == 1.0
    assert similar(b"a\n", b"b\n") == 0.0
    assert similar(b"", b"") == 1.0
