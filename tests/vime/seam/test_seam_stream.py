"""vLLM's deltas are read as upstream's cumulative chunks."""

import asyncio
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seam_world import Bytes, answer, choice

from vime.backends.vllm_utils.seam import AnswerStream, StreamError

BODY = {"input_ids": [1, 2, 3], "sampling_params": {"max_new_tokens": 99}, "return_logprob": True, "stream": True}


def lines_of(pieces, finish="stop", usage=True, as_text=False, **last):
    """A stream of the pieces (lists of ids), as the server writes it."""
    for number, ids in enumerate(pieces):
        end = number == len(pieces) - 1
        more = last if end else {}
        if as_text:
            more = {**more, "text": bytes(ids).decode("utf-8", "ignore")}
        yield "data: " + json.dumps(
            {
                "request_id": "generate-tokens-r",
                "usage": None,
                "choices": [choice(ids, finish if end else None, **more)],
            }
        )
        yield ""
    if usage:
        yield "data: " + json.dumps({**answer(), "choices": []})
        yield ""
    yield "data: [DONE]"


def read_all(stream, lines):
    return [stream.read(json.loads(line[5:])) for line in stream.lines(lines) if line.startswith("data: {")]


def test_chunks_are_cumulative_and_the_usage_chunk_is_none_of_them():
    seen = read_all(AnswerStream(BODY, Bytes()), lines_of([[97], [98, 99], [100]]))
    assert [c["text"] for c in seen] == ["a", "abc", "abcd"]
    assert [c["output_ids"] for c in seen] == [[97], [97, 98, 99], [97, 98, 99, 100]]
    assert [len(c["meta_info"]["output_token_logprobs"]) for c in seen] == [1, 3, 4]
    assert [c["meta_info"]["finish_reason"] for c in seen] == [None, None, {"type": "stop"}]
    assert seen[-1]["meta_info"]["cached_tokens"] == 2 and seen[0]["meta_info"]["prompt_tokens"] == 3
    assert "weight_version" not in seen[0]["meta_info"] and seen[-1]["meta_info"]["weight_version"] == "7"


def test_the_servers_text_is_used_where_there_is_no_tokenizer():
    stream = AnswerStream(BODY)
    assert stream.request["output_mode"] == "text"
    assert [c["text"] for c in read_all(stream, lines_of([[97], [98]], as_text=True))] == ["a", "ab"]
    assert "output_mode" not in AnswerStream(BODY, Bytes()).request


def test_any_of_the_lines_may_be_read_alone_or_late():
    stream = AnswerStream(BODY, Bytes())
    kept = [line for line in stream.lines(lines_of([[97], [98], [99]])) if line.startswith("data: {")]
    assert [stream.read(json.loads(kept[i][5:]))["text"] for i in (2, 0, 1, 2)] == ["abc", "a", "ab", "abc"]


def test_chunks_kept_do_not_grow():
    first, *_ = read_all(AnswerStream(BODY, Bytes()), lines_of([[97], [98], [99]]))
    assert first["output_ids"] == [97] and len(first["meta_info"]["output_token_logprobs"]) == 1


def test_without_lines_chunks_are_added_as_they_are_read():
    stream = AnswerStream(BODY, Bytes())
    raw = [json.loads(line[5:]) for line in lines_of([[97], [98]]) if line.startswith("data: {")]
    seen = [stream.read(chunk) for chunk in raw]
    assert [c["text"] for c in seen] == ["a", "ab", "ab"] and seen[-1]["meta_info"]["cached_tokens"] == 2


@given(st.text(max_size=12), st.lists(st.integers(1, 4), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_wherever_it_is_cut_the_text_is_whole(text, sizes):
    ids, pieces = list(text.encode()), []
    for size in sizes:
        pieces, ids = [*pieces, ids[:size]], ids[size:]
    pieces.append(ids)
    seen = read_all(AnswerStream(BODY, Bytes()), lines_of(pieces))
    assert seen[-1]["text"] == text
    assert all(text.startswith(chunk["text"].rstrip("\ufffd")) for chunk in seen)


@pytest.mark.parametrize(
    ("sampling", "last", "text"),
    [
        ({}, {}, "ab"),
        ({"no_stop_trim": True}, {}, "ab"),
        ({}, {"stop_reason": "b"}, "a"),
        ({"no_stop_trim": True}, {"stop_reason": "b"}, "ab"),
    ],
)
def test_what_ended_the_text_is_cut_unless_told_not_to(sampling, last, text):
    body = {**BODY, "sampling_params": sampling}
    assert read_all(AnswerStream(body, Bytes()), lines_of([[97], [98]], **last))[-1]["text"] == text


def test_an_error_in_the_stream_raises():
    bad = 'data: {"error": {"message": "prompt too long", "code": 400}}'
    with pytest.raises(StreamError, match="prompt too long"):
        list(AnswerStream(BODY).lines([bad, "data: [DONE]"]))
    with pytest.raises(StreamError, match="prompt too long"):
        AnswerStream(BODY).read(json.loads(bad[5:]))


def test_other_lines_pass_and_bytes_stay_bytes():
    stream = AnswerStream(BODY, Bytes())
    given_lines = [": keep alive", "data: not json", *lines_of([[97]])]
    got = list(stream.lines(line.encode() for line in given_lines))
    assert got[:2] == [b": keep alive", b"data: not json"] and got[-1] == b"data: [DONE]"
    assert stream.read(json.loads(got[2][5:]))["text"] == "a"


def test_a_dropped_connection_still_gives_what_came():
    def dropped():
        yield from list(lines_of([[97], [98]], usage=False))[:3]
        raise ConnectionError

    got = []
    with pytest.raises(ConnectionError):
        for line in AnswerStream(BODY).lines(dropped()):
            got.append(line)
    assert sum(line.startswith("data: {") for line in got) == 2


def test_asynchronous_lines():
    async def arriving():
        for line in lines_of([[97], [98]]):
            yield line

    async def run():
        stream = AnswerStream(BODY, Bytes())
        return [
            stream.read(json.loads(line[5:]))["text"]
            async for line in stream.lines(arriving())
            if line.startswith("data: {")
        ]

    assert asyncio.run(run()) == ["a", "ab"]


def test_several_choices_are_kept_apart():
    stream = AnswerStream(BODY, Bytes())
    chunks = [choice([97], None), choice([120], None, index=1), choice([98], "stop"), choice([121], "stop", index=1)]
    texts = [stream.read({"request_id": "r", "choices": [c]})["text"] for c in chunks]
    assert texts == ["a", "x", "ab", "xy"]


def test_decoding_costs_the_same_for_every_chunk():
    class Counting(Bytes):
        decoded = 0

        def decode(self, ids, **how):
            Counting.decoded += len(ids)
            return super().decode(ids, **how)

    stream, spent = AnswerStream(BODY, Counting()), []
    for _ in range(400):
        before = Counting.decoded
        stream.read({"request_id": "r", "choices": [choice([97], None)]})
        spent.append(Counting.decoded - before)
    assert max(spent[20:]) == min(spent[20:]) < 30


def test_a_long_stream_is_read_in_time():
    stream = AnswerStream(BODY, Bytes())
    started = time.process_time()
    for _ in range(4000):
        stream.read({"request_id": "r", "choices": [choice([97], None)]})
    assert time.process_time() - started < 2


def test_added_chunks_are_what_each_brought_and_all_of_it_in_the_end():
    stream = AnswerStream(BODY, Bytes())
    chunks = [json.loads(line[5:]) for line in lines_of([[97, 98], [99]]) if line.startswith("data: {")]
    first, second, *others = [stream.add(chunk) for chunk in chunks]
    assert (first.token_ids, first.text, first.finish_reason) == ([97, 98], "ab", None)
    assert (second.token_ids, second.text, len(second.log_probs)) == ([99], "abc", 1) and second.finish_reason
    assert others == [None] and stream.answer().token_ids == [97, 98, 99]


def test_a_text_goes_on_within_a_character():
    stream = AnswerStream(BODY, Bytes(), before=list("a€".encode())[:-1])
    chunk = next(json.loads(line[5:]) for line in lines_of([list("€".encode())[-1:]]) if line.startswith("data: {"))
    assert stream.add(chunk).text == "€"
