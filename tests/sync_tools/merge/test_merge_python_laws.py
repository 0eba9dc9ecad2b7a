"""Laws of merging modules that random edits of both sides changed, beside git's own merge."""

import ast
import subprocess
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.merge.file import merge_file
from sync_tools.merge.lines import split
from sync_tools.merge.source import Parser

randoms = st.randoms(use_true_random=False)


class Module:
    """Imports, a list, and functions of three to six statements; every line of code is there once."""

    def __init__(self, random):
        self.random = random
        self.imports = ["import a0", "import a1"]
        self.names = [f"    'n{n}'," for n in range(3)]
        self.functions = [
            [f"def f{n}(x{n}):", *(f"    v{n}_{m} = {m}" for m in range(random.randrange(3, 6))), f"    return v{n}"]
            for n in range(random.randrange(2, 6))
        ]

    def edited(self, side, kinds):
        """A copy with one to three edits whose lines name the side."""
        other = Module.__new__(Module)
        other.random = self.random
        other.imports, other.names = [*self.imports], [*self.names]
        other.functions = [[*function] for function in self.functions]
        for n in range(self.random.randrange(1, 4)):
            getattr(other, self.random.choice(kinds))(f"{side}{n}")
        return other

    def change(self, tag):
        function = self._function()
        function[self._place(function, len(function))] = f"    w_{tag} = 1"

    def insert(self, tag):
        function = self._function()
        function.insert(self._place(function, len(function) + 1), f"    i_{tag} = 1")

    def add(self, tag):
        self.functions.insert(
            self.random.randrange(len(self.functions) + 1), [f"def n_{tag}(y):", f"    return n_{tag}"]
        )

    def move(self, tag):
        function = self.functions.pop(self.random.randrange(len(self.functions)))
        self.functions.insert(self.random.randrange(len(self.functions) + 1), function)

    def delete(self, tag):
        if len(self.functions) > 1:
            self.functions.remove(self._function())

    def name(self, tag):
        self.names.insert(self.random.randrange(len(self.names) + 1), f"    '{tag}',")

    def use(self, tag):
        self.imports.insert(self.random.randrange(len(self.imports) + 1), f"import u_{tag}")

    def decorate(self, tag):
        self._function().insert(0, f"@d_{tag}")

    def _function(self):
        return self.random.choice([f for f in self.functions if len(f) > 2] or self.functions)

    def _place(self, function, end):
        """A line of the body."""
        header = next(n for n, line in enumerate(function) if line.startswith("def "))
        return self.random.randrange(header + 1, end)

    def text(self):
        head = [*self.imports, "", "NAMES = [", *self.names, "]"]
        return "\n".join(head + [line for function in self.functions for line in ("", "", *function)]).encode() + b"\n"


EDITS = ["change", "insert", "add", "move", "delete", "name", "use", "decorate"]
IN_PLACE = ["change", "insert", "add", "name", "use", "decorate"]


def sides(random, kinds):
    base = Module(random)
    return base.text(), base.edited("o", kinds).text(), base.edited("t", kinds).text()


def code(data):
    return Counter(line for line in split(data) if line.strip())


@given(randoms)
@settings(max_examples=100, deadline=None)
def test_a_clean_merge_holds_what_the_changes_say(random):
    base, ours, theirs = sides(random, EDITS)
    result = merge_file("m.py", base, ours, theirs)
    swapped = merge_file("m.py", base, theirs, ours)
    assert bool(result.conflicts) == bool(swapped.conflicts)
    ast.parse(result.mechanical)
    if result.conflicts:
        return
    ast.parse(result.final)
    b, o, t, m = map(code, (base, ours, theirs, result.final))
    kept = {line for line in b if line in o and line in t and b[line] == o[line] == t[line] == 1}
    assert all(m[line] == 1 for line in kept)
    assert all(m[line] == 1 for line in {*o, *t} - set(b))
    gone = {line for line in b if b[line] == 1 and (line not in o or line not in t)}
    assert not gone & set(m)


@given(randoms)
@settings(max_examples=100, deadline=None)
def test_mechanical_leaves_what_the_fork_edited_as_it_is(random):
    base, ours, theirs = sides(random, EDITS)
    result = merge_file("m.py", base, ours, theirs)
    before, fork, after = (bodies(data) for data in (base, ours, result.mechanical))
    for name in fork:
        if fork[name] != before.get(name):
            assert after[name] == fork[name]


@given(randoms)
@settings(max_examples=30, deadline=None)
def test_git_agrees_where_it_merges(tmp_path_factory, random):
    base, ours, theirs = sides(random, IN_PLACE)
    folder = tmp_path_factory.mktemp("git")
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(data)
    done = subprocess.run(["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=folder, capture_output=True)
    result = merge_file("m.py", base, ours, theirs)
    if done.returncode == 0:
        assert not result.conflicts
        assert result.final == done.stdout


def bodies(data):
    source = Parser().source(split(data))
    assert source is not None
    lines = source.lines
    return {i.name: [x for x in lines[i.start : i.end] if x.strip()] for i in source.definitions if i.is_definition}
