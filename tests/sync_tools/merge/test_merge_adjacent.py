"""Python changes at one place: statements side by side, imports, literals, declarations."""

from textwrap import dedent

import pytest

from sync_tools.merge.file import merge_file


def merge(base, ours, theirs):
    return merge_file("m.py", *(dedent(text).encode() for text in (base, ours, theirs)))


def merged(base, ours, theirs):
    result = merge(base, ours, theirs)
    assert not result.conflicts, result.final.decode()
    return result.final.decode()


FUNCTION = """\
def run(args):
    first = 1
    second = 2
    third = 3
    return first + second + third
"""


def test_edits_of_neighbouring_statements():
    ours, theirs = FUNCTION.replace("first = 1", "first = 10"), FUNCTION.replace("second = 2", "second = 20")
    assert merged(FUNCTION, ours, theirs) == ours.replace("second = 2", "second = 20")
    assert merged(FUNCTION, theirs, ours) == ours.replace("second = 2", "second = 20")


def test_a_statement_put_beside_an_edited_one():
    ours = FUNCTION.replace("second = 2", "second = 20")
    for theirs in (
        FUNCTION.replace("    second", "    extra = 5\n    second"),
        FUNCTION.replace("    third", "    extra = 5\n    third"),
    ):
        result = merged(FUNCTION, ours, theirs)
        assert result == theirs.replace("second = 2", "second = 20")


def test_an_edited_header_and_a_rewritten_body():
    base = "def f(a):\n    if a:\n        go(a)\n    return a\n"
    ours = "def f(a):\n    if a and a.ready:\n        go(a)\n    return a\n"
    theirs = "def f(a):\n    if a:\n        b = wrap(a)\n        go(b)\n    return a\n"
    assert merged(base, ours, theirs) == theirs.replace("if a:", "if a and a.ready:")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("    second = 20\n", "    second = 30\n"),
        ("    second = 2\n    ours = 4\n", "    second = 2\n    theirs = 5\n"),
        ("", "    second = 30\n"),
        ("", "    second = 2\n    theirs = 5\n"),
    ],
    ids=["same statement", "two insertions", "deleted and edited", "deleted and followed"],
)
def test_what_a_person_must_decide(ours, theirs):
    line = "    second = 2\n"
    result = merge(FUNCTION, FUNCTION.replace(line, ours), FUNCTION.replace(line, theirs))
    assert [c.symbol for c in result.conflicts] == ["run"]


def test_lines_of_one_string_or_expression_are_one_piece():
    base = 'TEXT = """\none\ntwo\n"""\n'
    assert merge(base, base.replace("one", "1"), base.replace("two", "2")).conflicts
    base = "x = (\n    a +\n    b\n)\n"
    assert merge(base, base.replace("a +", "a -"), base.replace("    b", "    c")).conflicts


def test_a_branch_beside_a_rewritten_condition_is_one_decision():
    base = "def f(a):\n    x = 1\n    if a:\n        go()\n"
    ours = base.replace("if a:", "if not a:")
    theirs = base.replace("    if a:", "    if a is None:\n        return\n    if a:")
    assert merge(base, ours, theirs).conflicts


def test_lines_of_flags_in_adjacent_strings():
    base = 'args = (\n    "--one 1 "\n    "--two 2 "\n    "--three 3 "\n)\n'
    ours, theirs = base.replace("--one 1", "--one 10"), base.replace("--two 2", "--two 20")
    assert merged(base, ours, theirs) == ours.replace("--two 2", "--two 20")


def test_imports_added_next_to_each_other():
    base = "import os\nimport sys\n\nos.sys\n"
    ours = base.replace("import sys\n", "import re\nimport sys\n")
    theirs = base.replace("import sys\n", "import json\nimport sys\n")
    assert merged(base, ours, theirs) == "import os\nimport json\nimport re\nimport sys\n\nos.sys\n"


def test_names_added_to_one_import():
    base = "from a import b, d\n"
    assert merged(base, "from a import b, c, d\n", "from a import b, d, e\n") == "from a import b, c, d, e\n"


def test_names_of_an_import_removed_and_added():
    base = "from a import b, c\n"
    assert merged(base, "from a import c, d\n", "from a import b, c, e\n") == "from a import c, d, e\n"
    assert merged(base, "from a import b, c, d\n", "from a import b\n") == "from a import b, d\n"


def test_an_import_that_one_side_wraps():
    theirs = "from a import (\n    b,\n    c,\n    e,\n)\n"
    assert merged("from a import b, c\n", "from a import b, c, d\n", theirs) == "from a import b, c, d, e\n"
    assert merged("from a import b, c\n", "from a import b, c\nimport z\n", theirs) == theirs + "import z\n"


def test_the_same_import_added_at_two_places_stands_once():
    base = "import os\nimport sys\n\nx = 1\ny = 2\n"
    ours = base.replace("import os\n", "import json\nimport os\n")
    theirs = base.replace("import sys\n", "import sys\nimport json\n")
    assert merged(base, ours, theirs).count("import json") == 1


def test_only_names_that_upstream_added_are_added():
    base = "import os\nimport sys\n\n\ndef f():\n    return os.sep\n"
    ours = base.replace("import sys\n", "")
    theirs = base.replace("import sys\n", "import sys\nimport json\n").replace("os.sep", "os.sep + sys.path + json.x")
    result = merged(base, ours, theirs)
    assert result.startswith("import os\nimport json\n")
    assert "import sys" not in result


@pytest.mark.parametrize("brackets", ["[]", "{}", "()"])
def test_elements_appended_to_one_literal(brackets):
    start, end = brackets
    base = f'__all__ = {start}\n    "a",\n    "b",\n{end}\n'
    ours, theirs = base.replace('"b",\n', '"b",\n    "o",\n'), base.replace('"b",\n', '"b",\n    "t",\n')
    assert merged(base, ours, theirs) == base.replace('"b",\n', '"b",\n    "o",\n    "t",\n')


def test_elements_appended_where_the_last_has_no_comma():
    base = "x = [\n    1,\n    2  # two\n]\n"
    ours, theirs = base.replace("2  # two\n", "2,  # two\n    3\n"), base.replace("2  # two\n", "2,  # two\n    4\n")
    assert merged(base, ours, theirs) == "x = [\n    1,\n    2,  # two\n    3,\n    4\n]\n"


def test_entries_of_a_dict():
    base = 'd = {\n    "a": 1,\n    "b": 2,\n}\n'
    ours, theirs = base.replace("}", '    "c": 3,\n}'), base.replace("}", '    "d": [\n        4,\n    ],\n}')
    assert merged(base, ours, theirs) == base.replace("}", '    "c": 3,\n    "d": [\n        4,\n    ],\n}')
    assert merge(base, ours, base.replace("}", '    "c": 4,\n}')).conflicts
    assert merged(base, ours, base.replace("}", '    "c": 3,\n    "e": 5,\n}')).count('"c"') == 1


def test_an_entry_that_one_removes_beside_one_that_the_other_adds():
    base = "x = [\n    1,\n    2,\n    3,\n]\n"
    assert merged(base, base.replace("    2,\n", ""), base.replace("    2,\n", "    2,\n    9,\n")) == base.replace(
        "2,", "9,"
    )


def test_positional_parameters_are_not_reordered():
    base = "def f(\n    a,\n):\n    return a\n"
    assert merge(base, base.replace("a,\n", "a,\n    b=1,\n"), base.replace("a,\n", "a,\n    c=2,\n")).conflicts
    base = "f(\n    1,\n    a=1,\n)\n"
    ours, theirs = base.replace("a=1,\n", "a=1,\n    b=2,\n"), base.replace("a=1,\n", "a=1,\n    c=3,\n")
    assert merged(base, ours, theirs) == "f(\n    1,\n    a=1,\n    b=2,\n    c=3,\n)\n"


PARSER = """\
def add(parser):
    parser.add_argument(
        "--a",
        type=int,
    )
    parser.add_argument(
        "--z",
        type=int,
    )
"""


def argument(name):
    return f'    parser.add_argument(\n        "--{name}",\n        type=str,\n    )\n'


def test_arguments_registered_at_one_place():
    z = PARSER[PARSER.index('    parser.add_argument(\n        "--z"') :]
    ours, theirs = PARSER.replace(z, argument("o") + z), PARSER.replace(z, argument("t") + z)
    assert merged(PARSER, ours, theirs) == PARSER.replace(z, argument("o") + argument("t") + z)
    assert merge(PARSER, ours, theirs.replace('"--t"', '"--o"').replace("str", "int")).conflicts


def test_functions_added_at_one_place():
    base = "def a():\n    return 1\n\n\ndef z():\n    return 26\n"
    new = "def {0}():\n    return '{0}'\n\n\n"
    ours, theirs = base.replace("def z", new.format("o") + "def z"), base.replace("def z", new.format("t") + "def z")
    assert merged(base, ours, theirs) == base.replace("def z", new.format("o") + new.format("t") + "def z")
    end = "\n\ndef {0}():\n    return '{0}'\n"
    assert merged(base, base + end.format("o"), base + end.format("t")) == base + end.format("o") + end.format("t")


def test_declarations_that_need_each_other_are_not_put_together():
    base = "a = 1\n"
    assert merged(base, base + "b = 2\n", base + "c = 3\n") == "a = 1\nb = 2\nc = 3\n"
    assert merge(base, base + "b = 2\n", base + "c = b\n").conflicts
    assert merge(base, base + "b = 2\n", base + "b = 3\n").conflicts
    assert merge(base, base + "go()\n", base + "stop()\n").conflicts


def test_statements_that_run_are_not_put_in_an_order():
    base = "def f(a):\n    for x in a:\n        y = x\n        go(y)\n"
    ours, theirs = (
        base.replace("        y = x", "        o = 1\n        y = x"),
        base.replace("y = x", "t = x\n        y = t"),
    )
    assert merge(base, ours, theirs).conflicts
    theirs = base.replace("        y = x", "        t = 1\n        y = x")
    assert merge(base, ours, theirs).conflicts
    ours, theirs = base.replace("    for", "    import o\n    for"), base.replace("    for", "    import t\n    for")
    assert merged(base, ours, theirs) == base.replace("    for", "    import o\n    import t\n    for")


def test_a_comment_edited_above_an_edited_statement():
    base = "x = 1\n# about y\ny = 2\nz = 3\n"
    ours, theirs = base.replace("about y", "more about y"), base.replace("y = 2", "y = 20")
    assert merged(base, ours, theirs) == "x = 1\n# more about y\ny = 20\nz = 3\n"


def test_blank_lines_do_not_conflict():
    base = "import os\nimport sys\nfrom a import b\n\nb(os, sys)\n"
    ours = base.replace("sys\nfrom", "sys\n\nfrom")
    theirs = base.replace("sys\nfrom", "sys\nimport uuid\nfrom")
    assert merged(base, ours, theirs) == theirs
