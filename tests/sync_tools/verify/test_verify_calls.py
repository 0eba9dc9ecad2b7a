"""calls: calls bind to the signatures of our functions, classes and methods."""

import pytest

CORE = {
    "vime/__init__.py": "",
    "vime/lib.py": """\
        from dataclasses import dataclass, field
        from functools import lru_cache
        from typing import ClassVar, NamedTuple

        def plain(a, b=1, *, c=2): ...
        def needs(a, *, key): ...
        def only(a, /, b): ...
        def open_(a, *rest, **more): ...
        async def later(a): ...

        @lru_cache
        def cached(a): ...

        @some.wrapper
        def wrapped(a): ...

        class Sample:
            def __init__(self, index, tokens=None): ...
            def append(self, args, *, tokens): ...
            @staticmethod
            def parse(text): ...
            @classmethod
            def make(cls, n): ...

        class Child(Sample):
            def extra(self): ...

        class Foreign(torch.nn.Module):
            def forward(self, x): ...

        @dataclass
        class Row:
            a: int
            b: int = 0
            c: list = field(default_factory=list)
            d: int = field(init=False)
            K: ClassVar[int] = 1

        @dataclass(kw_only=True)
        class Named(Row):
            e: int = 0

        class Pair(NamedTuple):
            a: int

        class Empty: ...
        """,
}
IMPORT = (
    "import functools\nfrom vime import lib\n"
    "from vime.lib import Child, Empty, Foreign, Named, Pair, Row, Sample, cached, later, needs, only, open_, plain, wrapped\n"
)


def calls(found, code: str) -> list[int]:
    """The lines of the code, after the imports, at which a call does not bind."""
    after = {**CORE, "vime/use.py": IMPORT + code}
    return [line - IMPORT.count("\n") for _, line, _ in found("calls", after, CORE)]


@pytest.mark.parametrize(
    "code",
    [
        "plain(1)",
        "plain(1, 2, c=3)",
        "plain(b=1, a=2)",
        "plain(*xs)",
        "plain(**kw)",
        "plain(1, *xs, c=1)",
        "needs(1, key=2)",
        "needs(1, **kw)",
        "only(1, 2)",
        "open_(1, 2, 3, x=4)",
        "cached(1)",
        "wrapped(1, 2, 3)",
        "lib.plain(1)",
        "lib.Sample(1)",
        "Sample(1, tokens=[])",
        "Sample.parse('x')",
        "Sample.make(3)",
        "Sample.append(s, args, tokens=[])",
        "Child(1)",
        "Foreign(1, 2, 3)",
        "Row(1, 2, c=[])",
        "Named(1, 2, e=3)",
        "Pair(1)",
        "Empty()",
        "functools.partial(plain, c=1)",
        "functools.partial(needs)",
        "def f(s: Sample):\n    s.append(1, tokens=[])",
        "def f(s: Sample):\n    s = other()\n    s.append()",
        "def f(plain):\n    plain(1, 2, 3, 4)",
        "def f():\n    plain = other\n    plain()",
        "def f(x):\n    return [plain() for plain in x]",
        "import pytest\nwith pytest.raises(TypeError):\n    plain()",
        "class A:\n    def m(self, a): ...\n    def n(self):\n        self.m(1)",
        "class A:\n    def __init__(self, f):\n        self.m = f\n        self.m()\n    def m(self, a): ...",
        "class A:\n    @property\n    def m(self): ...\n    def n(self):\n        self.m(1, 2)",
        "def g(a): ...\ng = other(g)\ng()",
    ],
)
def test_calls_that_bind_or_that_nobody_can_know_pass(found, code):
    assert calls(found, code + "\n") == []


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("plain()", 1),
        ("plain(1, 2, 3)", 1),
        ("plain(1, d=2)", 1),
        ("plain(1, a=2)", 1),
        ("plain(*xs, d=1)", 1),
        ("needs(1)", 1),
        ("needs(1, 2)", 1),
        ("only(a=1, b=2)", 1),
        ("await_ = later()", 1),
        ("cached()", 1),
        ("lib.plain()", 1),
        ("x = 1\nSample()", 2),
        ("Sample(1, token=[])", 1),
        ("Sample.make()", 1),
        ("Child()", 1),
        ("Row()", 1),
        ("Row(1, d=2)", 1),
        ("Row(1, K=2)", 1),
        ("Named(1, 2, [], 3)", 1),
        ("Empty(1)", 1),
        ("functools.partial(plain, d=1)", 1),
        ("def f(s: Sample):\n    s.append(1)", 2),
        ("def f():\n    s = Sample(1)\n    s.append(1, token=2)", 3),
        ("def f():\n    from vime.lib import needs as n\n    n(1)", 3),
        ("class A:\n    def m(self, a): ...\n    def n(self):\n        self.m()", 4),
        ("def f():\n    def inner(a): ...\n    inner()", 3),
    ],
)
def test_calls_that_do_not_bind_are_found(found, code, line):
    assert calls(found, code + "\n") == [line]


def test_callers_elsewhere_of_a_changed_signature_are_looked_at(found):
    before = {
        "vime/__init__.py": "",
        "vime/a.py": "def f(x): ...\n",
        "vime/b.py": "from vime.a import f\n\n\ndef g():\n    return f(1)\n",
    }
    after = {**before, "vime/a.py": "def f(x, *, key): ...\n"}
    assert found("calls", after, before) == [("vime/b.py", 5, "calls.bind")]
    assert found("calls", {**before, "vime/a.py": "def f(x, *, key=1): ...\n"}, before) == []
