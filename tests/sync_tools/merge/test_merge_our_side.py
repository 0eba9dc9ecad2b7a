"""A text with markers leads back to our side of it."""

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.merge.file import merge_file
from sync_tools.merge.markers import ours_of

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "<<<<<<< ours", "======="]), max_size=6)
ENDS = st.sampled_from(["", "\n"])
TEXTS = st.builds(lambda lines, end: ("\n".join(lines) + end if lines else "").encode(), LINES, ENDS)


@settings(max_examples=60, deadline=None)
@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_our_side_of_every_conflict_and_all_else_of_the_merge(base, ours, theirs):
    merged = merge_file("x.txt", base, ours, theirs)
    kept = ours_of(merged.final, ours)
    if not merged.conflicts:
        assert kept == merged.final
    if theirs == base:
        assert kept == ours
    if len(merged.conflicts) == 1 and merged.conflicts[0].base == (0, base.count(b"\n") + (not base.endswith(b"\n"))):
        assert kept in (ours, ours + b"\n")
    assert set(kept.split()) <= set(ours.split()) | set(theirs.split())


def test_the_last_line_keeps_its_missing_newline():
    merged = merge_file("x.txt", b"a\nb", b"a\nours", b"a\ntheirs\n")
    assert merged.conflicts and ours_of(merged.final, b"a\nours") == b"a\nours"
    merged = merge_file("x.txt", b"a\n\n\n\nb\n", b"ours\n\n\n\nb\n", b"theirs\n\n\n\nc\n")
    assert ours_of(merged.final, b"ours\n\n\n\nb\n") == b"ours\n\n\n\nc\n"


TURNED = """def flops(args):
    if args.rank is None:
        found = 2 * args.size
    else:
        found = (
            3
            * args.rank
        )
    return found
"""


def test_our_side_of_a_condition_that_upstream_turned_round_parses():
    ours = TURNED.replace("2 * args.size", "FACTOR * args.size")
    theirs = TURNED.replace(
        "    if args.rank is None:\n        found = 2 * args.size\n    else:\n",
        "    deep = is_deep(args)\n    if deep and args.rank is not None:\n",
    ).replace("        )\n", "        )\n    else:\n        found = 2 * args.width\n")
    merged = merge_file("x.py", TURNED.encode(), ours.encode(), theirs.encode())
    assert merged.conflicts
    kept = ours_of(merged.final, ours.encode())
    ast.parse(kept)
    assert kept.count(b"FACTOR") == 1
