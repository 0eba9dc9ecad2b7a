"""What every merge obeys, whatever the files hold."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.merge.diff import hunks
from sync_tools.merge.file import merge_file
from sync_tools.merge.lines import split
from sync_tools.merge.markers import conflict_regions

line = st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"=======\n", b"d\r\n", b"\xff\xfe\n", b"  e\n", b"\x0c\n"])
text = st.builds(lambda lines, tail: b"".join(lines) + tail, st.lists(line, max_size=12), st.sampled_from([b"", b"z"]))
path = st.sampled_from(["notes.txt", "module.py"])


@given(st.lists(line, max_size=30), st.lists(line, max_size=30))
@settings(max_examples=100, deadline=None)
def test_hunks_turn_the_old_text_into_the_new_one(a, b):
    found = hunks(a, b)
    at, out = 0, []
    for h in found:
        out += a[at : h.a0] + b[h.b0 : h.b1]
        at = h.a1
    assert out + a[at:] == b
    assert all(x.a1 < y.a0 and x.b1 < y.b0 for x, y in pairwise(found))


@given(path, text, text)
@settings(max_examples=100, deadline=None)
def test_a_side_that_did_not_change_yields(path, base, other):
    assert merge_file(path, base, base, other).final == other
    assert merge_file(path, base, base, other).mechanical == other
    assert merge_file(path, base, other, base).final == other
    assert merge_file(path, base, other, other).final == other


@given(path, text, text, text)
@settings(max_examples=100, deadline=None)
def test_cleanliness_is_symmetric(path, base, ours, theirs):
    assert bool(merge_file(path, base, ours, theirs).conflicts) == bool(merge_file(path, base, theirs, ours).conflicts)


@given(path, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_nothing_that_one_side_added_or_both_kept_is_lost(path, random):
    base = [f"x{n} = {n}\n".encode() for n in range(random.randrange(12))]
    ours, theirs = (edited(base, side, random) for side in ("ours", "theirs"))
    merged = merge_file(path, *(b"".join(x) for x in (base, ours, theirs)))
    if merged.conflicts:
        assert len(conflict_regions(merged.final)) == len(merged.conflicts)
        return
    kept = set(base) & set(ours) & set(theirs)
    expected = kept | set(ours) - set(base) | set(theirs) - set(base)
    assert sorted(split(merged.final)) == sorted(expected)


def edited(base, side, random):
    lines = []
    for n, line in enumerate(base):
        what = random.choice(["keep"] * 4 + ["drop", "change", "insert"])
        lines += {"keep": [line], "drop": [], "change": [f"x{n} = '{side}'\n".encode()]}.get(
            what, [f"{side}{n} = 1\n".encode(), line]
        )
    return lines


@given(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True), st.lists(st.integers(0, 9), max_size=3))
@settings(max_examples=100, deadline=None)
def test_edits_apart_merge_cleanly(ours_at, theirs_at):
    base = [b"line %d\n" % n for n in range(40)]
    ours, theirs, both = base.copy(), base.copy(), base.copy()
    for n in ours_at:
        ours[4 * n] = both[4 * n] = b"ours %d\n" % n
    for n in theirs_at:
        theirs[4 * n + 2] = both[4 * n + 2] = b"theirs %d\n" % n
    merged = merge_file("notes.txt", *(b"".join(x) for x in (base, ours, theirs)))
    assert not merged.conflicts
    assert merged.final == merged.mechanical == b"".join(both)
