"""A port must not wait for its merges."""

import time

from sync_tools.merge.diff import hunks
from sync_tools.merge.file import merge_file


def seconds(action):
    """The best of three, in time of this process, so that a busy machine does not count."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def test_a_file_of_five_thousand_lines():
    parts = [
        f"def f{n}(x):\n    a = x + {n}\n    b = [\n        {n},\n        a,\n    ]\n    if a:\n        go(b)\n    return b\n\n\n"
        for n in range(460)
    ]
    ours, theirs = parts.copy(), parts.copy()
    ours[40] = ours[40].replace("go(b)", "go(b, 1)")
    ours[300] = ours[300].replace("if a", "if not a")
    theirs[300] = theirs[300].replace("go(b)", "go(b, 2)")
    theirs[20] = theirs[20].replace("return b", "return a, b")
    texts = ["".join(side).encode() for side in (parts, ours, theirs)]
    assert texts[0].count(b"\n") > 5000
    assert not merge_file("m.py", *texts).conflicts
    assert seconds(lambda: merge_file("m.py", *texts)) < 0.3


def test_texts_without_a_line_in_common_and_of_few_lines_repeated():
    assert seconds(lambda: hunks([b"a%d\n" % n for n in range(20000)], [b"b%d\n" % n for n in range(20000)])) < 0.3
    assert seconds(lambda: hunks([b"{\n", b"},\n"] * 5000, [b"},\n", b"{\n", b"x\n"] * 3000)) < 1.5
