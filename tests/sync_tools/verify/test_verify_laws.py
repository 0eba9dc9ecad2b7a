"""Laws: what does not change introduces nothing, and the answer is the same each time."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.config import Config
from sync_tools.tree import Blob, MemoryTree
from sync_tools.verify.model import Context
from sync_tools.verify.run import run as verify

FRAGMENTS = (
    "import os\n",
    "from vime.a import f\n",
    "from vime.gone import x\n",
    "import vime.b as b\nb.nothing\n",
    "def f(a, b=1): ...\n",
    "f(1, 2, 3)\n",
    "class A:\n    x: int = 1\n    x: int = 2\n",
    'U = "http://h:1/generate"\n',
    'N = "sglang"\n',
    "args.unheard_of\n",
    "undefined_name\n",
    "<<<<<<< a\n",
    ">>>>>>> b\n",
    "train --vllm-dp-size $N\n",
    "[l](nowhere.md)\n",
    "def g(:\n",
    "\ufeff",
    "\x00",
    "\r\n",
)
CONTENT = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=8).map(lambda parts: "".join(parts).encode()),
    st.binary(max_size=80),
)
PATHS = st.sampled_from(
    ["vime/a.py", "vime/b.py", "vime/__init__.py", "run.sh", "docs/a.md", "tests/test_a.py", "c.yaml"]
)
FILES = st.dictionaries(PATHS, CONTENT, max_size=4)


def context(before: dict[str, bytes], after: dict[str, bytes]) -> Context:
    base, tree = (MemoryTree({p: Blob(c) for p, c in files.items()}) for files in (before, after))
    return Context(tree, base, {}, frozenset(before) | frozenset(after), ("vime",), "vime.seam", Config())


@settings(max_examples=60, deadline=None)
@given(FILES)
def test_a_change_of_nothing_introduces_nothing(files):
    findings = [f for c in verify(context(files, files)).values() for f in c.findings if f.rule != "tests.not-run"]
    assert {f.origin for f in findings} <= {"inherited"}


@settings(max_examples=60, deadline=None)
@given(FILES, FILES)
def test_no_content_stops_a_check_and_the_answer_is_stable(before, after):
    checks = verify(context(before, after))
    assert not [c.reason for c in checks.values() if "stopped" in c.reason]
    assert checks == verify(context(before, after))
    for check in checks.values():
        assert list(check.findings) == sorted(check.findings)
        assert all(f.line >= 1 and f.path in {*before, *after} for f in check.findings)
