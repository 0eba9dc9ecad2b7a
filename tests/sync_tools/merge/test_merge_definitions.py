"""Python by definition: moved, renamed, deleted, added twice, decorated."""

from textwrap import dedent

import pytest

from sync_tools.merge.file import merge_file
from sync_tools.merge.markers import conflict_regions


def merge(base, ours, theirs):
    return merge_file("m.py", *(dedent(text).encode() for text in (base, ours, theirs)))


def merged(base, ours, theirs):
    result = merge(base, ours, theirs)
    assert not result.conflicts, result.final.decode()
    return result.final.decode()


def function(name, *lines):
    return f"def {name}(x):\n" + "".join(f"    {line}\n" for line in (*lines, f"return {name!r}"))


ALPHA = function("alpha", "a = x + 1", "log(a)", "store(a)")
BETA = function("beta", "b = x * 2", "check(b)", "send(b)")
GAMMA = function("gamma", "c = x - 3", "drop(c)", "wait(c)")


def module(*parts):
    return "import os\n\n\n" + "\n\n".join(parts)


BASE = module(ALPHA, BETA, GAMMA)


def test_a_function_that_one_moved_and_the_other_edited():
    moved, edited = module(BETA, GAMMA, ALPHA), BASE.replace("store(a)", "store(a, 1)")
    assert merged(BASE, moved, edited) == moved.replace("store(a)", "store(a, 1)")
    assert merged(BASE, edited, moved) == moved.replace("store(a)", "store(a, 1)")


def test_upstream_reorders_while_the_fork_edits_and_adds():
    extra = function("extra", "e = x", "emit(e)")
    ours = module(ALPHA, extra, BETA.replace("send(b)", "send(b, x)"), GAMMA)
    theirs = module(GAMMA, ALPHA, BETA)
    assert merged(BASE, ours, theirs) == module(GAMMA, ALPHA, extra, BETA.replace("send(b)", "send(b, x)"))


def methods(*parts):
    body = "\n".join("".join(f"    {line}" for line in part.splitlines(True)) for part in parts)
    return f"class Runner:\n    limit = 3\n\n{body}"


def test_a_method_edited_in_a_class_that_the_other_side_moved():
    cls = methods(ALPHA, BETA)
    base, theirs = module(cls, GAMMA), module(GAMMA, cls)
    ours = base.replace("check(b)", "check(b, x)")
    assert merged(base, ours, theirs) == theirs.replace("check(b)", "check(b, x)")


def test_methods_reordered_by_one_and_edited_by_the_other():
    base, theirs = methods(ALPHA, BETA, GAMMA), methods(GAMMA, ALPHA, BETA)
    ours = base.replace("wait(c)", "wait(c, 1)").replace("log(a)", "log(a, 1)")
    assert merged(base, ours, theirs) == theirs.replace("wait(c)", "wait(c, 1)").replace("log(a)", "log(a, 1)")


def test_a_deleted_definition_that_the_other_did_not_touch():
    new = function("new", "n = x", "go(n)")
    assert merged(BASE, module(ALPHA, GAMMA), module(ALPHA, BETA, new, GAMMA)) == module(ALPHA, new, GAMMA)
    assert merged(BASE, module(ALPHA), module(ALPHA, new, BETA, GAMMA)) == module(ALPHA, new)


@pytest.mark.parametrize("swap", [False, True])
def test_deleted_and_edited_is_a_conflict(swap):
    sides = [module(ALPHA, GAMMA), BASE.replace("check(b)", "check(b, 1)")]
    result = merge(BASE, *(reversed(sides) if swap else sides))
    assert [c.symbol for c in result.conflicts] == ["beta"]
    assert len(conflict_regions(result.final)) == 1
    found, gone = result.conflicts[0], "theirs" if swap else "ours"
    assert getattr(found, gone) == (8, 8)
    assert found.base == (8, 15)


def test_a_renamed_function_that_the_other_edited():
    ours, theirs = BASE.replace("def beta", "def better"), BASE.replace("send(b)", "send(b, 1)")
    assert merged(BASE, ours, theirs) == ours.replace("send(b)", "send(b, 1)")
    ours = module(ALPHA, GAMMA, BETA.replace("def beta", "def better"))
    assert merged(BASE, ours, theirs) == ours.replace("send(b)", "send(b, 1)")


def test_a_definition_added_by_both():
    new = function("new", "n = x", "go(n)")
    both = merged(BASE, module(ALPHA, new, BETA, GAMMA), module(ALPHA, BETA, GAMMA, new))
    assert both.count("def new") == 1
    result = merge(BASE, module(ALPHA, new, BETA, GAMMA), module(ALPHA, BETA, GAMMA, new.replace("go(n)", "stop(n)")))
    assert [c.symbol for c in result.conflicts] == ["new"]
    assert result.final.count(b"def new") == 1


def test_files_that_both_added():
    result = merge_file("m.py", None, BASE.encode(), module(ALPHA, BETA, GAMMA, function("new", "n = x")).encode())
    assert not result.conflicts
    assert result.final.count(b"def ") == 4
    result = merge_file("m.py", None, BASE.encode(), BASE.replace("log(a)", "print(a)").encode())
    assert [c.symbol for c in result.conflicts] == ["alpha"]


def test_a_decorator_that_the_fork_added():
    ours = BASE.replace("def beta", "@cached\ndef beta")
    theirs = BASE.replace("def beta(x):", "def beta(x, y=1):")
    assert merged(BASE, ours, theirs) == BASE.replace("def beta(x):", "@cached\ndef beta(x, y=1):")


def test_a_function_made_async_by_one_and_edited_by_the_other():
    theirs, ours = BASE.replace("def beta", "async def beta"), BASE.replace("check(b)", "check(b, 1)")
    assert merged(BASE, ours, theirs) == theirs.replace("check(b)", "check(b, 1)")
    moved = module(BETA.replace("def beta", "async def beta"), ALPHA, GAMMA)
    assert merged(BASE, ours, moved) == moved.replace("check(b)", "check(b, 1)")


def test_comments_above_a_function_travel_with_it():
    base = module(ALPHA, "# what beta does\n" + BETA, GAMMA)
    ours = base.replace("# what beta does", "# what beta really does")
    theirs = module("# what beta does\n" + BETA.replace("send(b)", "send(b, 1)"), ALPHA, GAMMA)
    expected = module("# what beta really does\n" + BETA.replace("send(b)", "send(b, 1)"), ALPHA, GAMMA)
    assert merged(base, ours, theirs) == expected


def test_a_comment_above_edited_by_one_and_the_body_by_the_other():
    base = module(ALPHA, "# what beta does\n" + BETA)
    ours, theirs = base.replace("what beta", "all that beta"), base.replace("b = x * 2", "b = x * 4")
    assert merged(base, ours, theirs) == ours.replace("b = x * 2", "b = x * 4")


def test_nested_functions():
    base = "def outer():\n    def one():\n        return 1\n\n    def two():\n        return 2\n\n    return one, two\n"
    ours, theirs = base.replace("return 1", "return 10"), base.replace("return 2", "return 20")
    assert merged(base, ours, theirs) == ours.replace("return 2", "return 20")


def test_the_main_block():
    base = BASE + '\n\nif __name__ == "__main__":\n    first()\n    second()\n'
    ours = base.replace("first()", "first(1)")
    theirs = module(GAMMA, ALPHA, BETA) + '\n\nif __name__ == "__main__":\n    first()\n    second(2)\n'
    assert merged(base, ours, theirs) == theirs.replace("first()", "first(1)")


PROPERTY = """\
class Box:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        check(value)
        self._size = value
"""


def test_definitions_of_one_name_are_told_apart_by_order():
    ours = PROPERTY.replace("return self._size", "return self._size or 0")
    theirs = PROPERTY.replace("check(value)", "check(value, 1)")
    assert merged(PROPERTY, ours, theirs) == ours.replace("check(value)", "check(value, 1)")
    guarded = "try:\n    import fast\nexcept ImportError:\n    fast = None\n\n\n" + BASE
    moved = guarded.replace(module(ALPHA, BETA, GAMMA), module(BETA, ALPHA, GAMMA))
    assert merged(guarded, guarded.replace("fast = None", "fast = False"), moved) == moved.replace("None", "False")


def test_a_definition_is_never_there_twice():
    """Both moved it: by line alone, each side's new place would hold a copy."""
    ours, theirs = module(BETA, ALPHA, GAMMA), module(BETA, GAMMA, ALPHA)
    assert merged(BASE, ours, theirs).count("def alpha") == 1


def test_a_clean_merge_parses():
    base = "def f(a):\n    if a:\n        x()\n    y()\n"
    ours = "def f(a):\n    x()\n    y()\n"
    theirs = "def f(a):\n    if a:\n        x()\n    else:\n        z()\n    y()\n"
    result = merge(base, ours, theirs)
    if not result.conflicts:
        compile(result.final, "m.py", "exec")


def test_what_does_not_parse_is_merged_by_line():
    base = "<% set x = 1 %>\na\nb\nc\nd\n"
    result = merge(base, base.replace("a\n", "A\n"), base.replace("d\n", "D\n"))
    assert result.final.decode() == base.replace("a\n", "A\n").replace("d\n", "D\n")


def test_an_import_removed_by_one_and_extended_by_the_other():
    base = "from a import b\n" + BASE
    ours, theirs = base.replace("import b", "import b, c"), module(GAMMA, ALPHA, BETA)
    assert merged(base, ours, theirs) == "from a import c\n" + theirs
    assert merged(base, theirs, ours) == "from a import c\n" + theirs


def test_git_would_undo_a_deletion_here():
    ours, theirs = module(ALPHA, GAMMA), module(BETA, ALPHA, GAMMA)
    assert merged(BASE, ours, theirs) == ours


def test_git_would_break_the_block_here():
    base = "def f(a):\n    if a:\n        go()\n\n    return a\n"
    ours = base.replace("go()\n\n", "go()\n\n        more()\n\n")
    theirs = base.replace("go()\n", "go()\n    after()\n")
    result = merge(base, ours, theirs)
    assert result.conflicts or compile(result.final, "m.py", "exec")


def test_a_comment_at_the_end_of_the_file():
    ours = module(ALPHA, GAMMA) + "\n\n# the end\n"
    theirs = module(GAMMA, ALPHA, BETA) + "\n\nLAST = 1\n"
    assert merged(BASE, ours, theirs) == module(GAMMA, ALPHA) + "\n\nLAST = 1\n\n\n# the end\n"
