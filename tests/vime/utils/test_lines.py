"""Lines come out the same however the network cut them."""

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from vime.utils.lines import LineSplitter

texts = st.text(st.sampled_from("ab€\u2028\x85\x0b \n\r"), max_size=40)


def split(pieces):
    splitter = LineSplitter()
    return [line for piece in pieces for line in splitter.feed(piece)] + splitter.close()


@given(texts, st.lists(st.integers(0, 60), max_size=8))
def test_cuts_do_not_matter(text, cuts):
    data = text.encode()
    bounds = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[a:b] for a, b in itertools.pairwise(bounds)] or [b""]
    expected = re.split("\r\n|\n|\r", text)
    assert split(pieces) == (expected[:-1] if expected[-1] == "" else expected)


def test_a_line_is_given_out_as_soon_as_its_end_is_there():
    splitter = LineSplitter()
    assert splitter.feed(b"data: 1\r") == ["data: 1"]
    assert splitter.feed(b"\ndata: 2") == []
    assert splitter.feed(b"\n\n") == ["data: 2", ""]
    assert splitter.close() == []


def test_a_character_in_two_reads_is_whole():
    assert split([b"\xe2\x82", b"\xac\n"]) == ["€"]
