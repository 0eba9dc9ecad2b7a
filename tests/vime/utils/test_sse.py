"""Events out of lines: the cases of the standard, and whatever is cut."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vime.utils.lines import LineSplitter
from vime.utils.sse import EventParser, events


def parsed(*lines):
    async def go():
        async def source():
            for line in lines:
                yield line

        return [data async for data in events(source())]

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("lines", "data"),
    [
        (["data: a", ""], ["a"]),
        (["data:a", ""], ["a"]),
        (["data:  a ", ""], [" a "]),
        (["data: a", "data: b", "data", ""], ["a\nb\n"]),
        (["data: a", "", "", "data: b", ""], ["a", "b"]),
        ([": comment", "data: a", ": another", "", ":", ""], ["a"]),
        (["event: x", "id: 1", "retry: 5", "unknown", ""], []),
        (["\ufeffdata: a", ""], ["a"]),
        (["data: a:b", "database: c", ""], ["a:b"]),
        (["data: cut"], []),
    ],
)
def test_events(lines, data):
    assert parsed(*lines) == data


def test_what_was_begun_is_known():
    parser = EventParser()
    parser.feed("data: a")
    assert parser.unfinished
    parser.feed("")
    assert not parser.unfinished


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(st.characters(blacklist_characters="\r\n\ufeff", blacklist_categories=["Cs"]), max_size=9), max_size=6
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 9),
)
def test_what_is_written_is_read(values, end, size):
    data = "".join(f"data: {value}{end}{end}" for value in values).encode()
    splitter, lines = LineSplitter(), []
    for start in range(0, len(data), size):
        lines += splitter.feed(data[start : start + size])
    assert parsed(*lines, *splitter.close()) == values
