"""Which upstream changes are mechanical: those to definitions that the fork has as upstream had them."""

from sync_tools.merge.file import merge_file

BASE = """\
import os


def load(path):
    data = open(path)
    return data.read()


def save(path, data):
    out = open(path, "w")
    out.write(data)


class Store:
    size = 1

    def get(self, key):
        found = self.map[key]
        return found

    def put(self, key, value):
        self.map[key] = value
"""


def merge(ours, theirs):
    return merge_file("m.py", BASE.encode(), ours.encode(), theirs.encode())


def test_other_definitions_are_mechanical():
    ours, theirs = BASE.replace("data.read()", "data.read(1)"), BASE.replace("out.write(data)", "out.write(data, 1)")
    result = merge(ours, theirs)
    assert result.mechanical == result.final == ours.replace("out.write(data)", "out.write(data, 1)").encode()


def test_a_definition_that_the_fork_edited_is_not():
    ours = BASE.replace("data.read()", "data.read(1)")
    theirs = BASE.replace("data = open(path)", "data = open(path, 'r')").replace(
        "found = self", "found = self.all or self"
    )
    result = merge(ours, theirs)
    assert not result.conflicts
    assert result.mechanical == ours.replace("found = self", "found = self.all or self").encode()
    assert result.final == theirs.replace("data.read()", "data.read(1)").encode()


def test_methods_are_definitions_of_their_own():
    ours = BASE.replace("return found", "return found or None")
    theirs = BASE.replace("size = 1", "size = 2").replace("= value", "= [value]")
    result = merge(ours, theirs)
    assert result.mechanical == result.final


def test_a_conflict_is_left_as_ours():
    ours, theirs = BASE.replace("data.read()", "data.read(1)"), BASE.replace("data.read()", "data.read(2)")
    theirs = theirs.replace("size = 1", "size = 2")
    result = merge(ours, theirs)
    assert [c.symbol for c in result.conflicts] == ["load"]
    assert result.mechanical == ours.replace("size = 1", "size = 2").encode()


def test_what_moves_moves_whole():
    """Upstream swaps two functions, one of which the fork edited: neither half of the swap is taken alone."""
    load, save = (
        BASE[BASE.index("def load") : BASE.index("def save")],
        BASE[BASE.index("def save") : BASE.index("class")],
    )
    theirs = BASE.replace(load + save, save + load)
    result = merge(BASE.replace("data.read()", "data.read(1)"), theirs)
    assert result.final == theirs.replace("data.read()", "data.read(1)").encode()
    for name in (b"def load", b"def save"):
        assert result.mechanical.count(name) == 1


def test_new_definitions_are_mechanical():
    new = "\n\ndef extra():\n    return 1\n"
    ours = BASE.replace("data.read()", "data.read(1)")
    result = merge(ours, BASE + new)
    assert result.mechanical == result.final == (ours + new).encode()


def test_imports_of_the_fork_do_not_hold_upstreams_back():
    ours, theirs = (
        BASE.replace("import os\n", "import abc\nimport os\n"),
        BASE.replace("import os\n", "import os\nimport sys\n"),
    )
    result = merge(ours, theirs)
    assert result.mechanical == result.final
    assert result.final.startswith(b"import abc\nimport os\nimport sys\n")
