"""An alignment says where each line went, and never crosses itself."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.ledger.align import align, common, without

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"d = slime", b"", b"e(1)"]), max_size=30)


@settings(max_examples=100, deadline=None)
@given(LINES, LINES)
def test_equal_lines_match_in_order_and_images_are_monotone(a: list[bytes], b: list[bytes]) -> None:
    found = align(a, b)
    assert all(a[i] == b[found.low[i]] and found.high[i] == found.low[i] + 1 for i in range(len(a)) if found.same[i])
    assert list(found.low) == sorted(found.low)
    assert list(found.high) == sorted(found.high)
    assert all(0 <= lo <= hi <= len(b) for lo, hi in zip(found.low, found.high))


@settings(max_examples=50, deadline=None)
@given(LINES)
def test_a_text_is_the_image_of_itself(a: list[bytes]) -> None:
    assert all(align(a, a).same)
    assert align(a, a).image(range(len(a))) == range(len(a))


@settings(max_examples=50, deadline=None)
@given(LINES, LINES)
def test_common_pairs_increase_on_both_sides(a: list[bytes], b: list[bytes]) -> None:
    pairs = common(a, b)
    assert all(x < y and u < v for (x, u), (y, v) in pairwise(pairs))


def test_renamed_lines_map_one_to_one_also_where_a_line_was_added() -> None:
    old = [b"from slime import x", b"run(slime_args)", b"end"]
    new = [b"from vime import x", b"import vllm", b"run(vime_args)", b"end"]
    found = align(old, new)
    assert [found.image(range(i, i + 1)) for i in range(3)] == [range(0, 1), range(2, 3), range(3, 4)]


def test_a_line_that_is_known_to_be_gone_leaves_a_gap() -> None:
    found = without([b"a 1", b"--flag", b"b 1"], [b"a 2", b"b 2"], frozenset({1}))
    assert [found.image(range(i, i + 1)) for i in range(3)] == [range(0, 1), range(1, 1), range(1, 2)]


def test_an_empty_range_is_the_gap_after_the_line_before() -> None:
    found = align([b"a", b"b"], [b"a", b"new", b"b"])
    assert found.image(range(1, 1)) == range(1, 1)
    assert found.image(range(0, 0)) == range(0, 0)


def test_long_texts_without_common_lines_are_quick() -> None:
    assert not any(align([b"x%d" % i for i in range(30_000)], [b"y%d" % i for i in range(20_000)]).same)
    assert common([b"x"] * 5_000, [b"x"] * 4_000)
