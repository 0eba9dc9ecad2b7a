"""What is read of each kind of chunk: usage, errors, aborts, masks, and lines that are no data."""

import json

import pytest
from seam_world import Bytes, int32

from vime.backends.vllm_utils.seam import AnswerStream, StreamError

BODY = {"input_ids": [5, 6, 7], "sampling_params": {"max_new_tokens": 4}, "return_logprob": True}


STREAMED = {**BODY, "stream": True}


def chunk(ids, finish=None, index=0, usage=None, **more):
    content = [{"token_id": i, "logprob": -1.0} for i in ids]
    choice = {"index": index, "finish_reason": finish, "stop_reason": None, "token_ids": ids, "routed_experts": None}
    choice |= {"sampling_mask": None, "weight_versions": None, "logprobs": {"content": content}, **more}
    return {"request_id": "generate-tokens-r", "usage": usage, "output_mode": "tokens", "choices": [choice]}


def wire(*chunks, end="\n", between=()):
    for one in chunks:
        yield "data: " + json.dumps(one) + end
        yield end.strip("\n\r") + end
        yield from between
    yield "data: [DONE]" + end


def shown(stream, lines):
    return [stream.read(json.loads(line[5:])) for line in stream.lines(lines) if line.startswith("data: {")]


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 2}}


USAGE_CHUNK = {"request_id": "generate-tokens-r", "usage": USAGE, "choices": []}


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("between", [(), (": ping", ""), ("event: message",)])
def test_the_final_chunk_has_the_usage_whatever_stands_between(end, between):
    seen = shown(
        AnswerStream(STREAMED, Bytes()), wire(chunk([97]), chunk([98], "length"), USAGE_CHUNK, end=end, between=between)
    )
    assert [one["text"] for one in seen] == ["a", "ab"]
    assert seen[-1]["meta_info"]["cached_tokens"] == 2


def test_the_usage_chunk_carries_the_metrics_of_the_request():
    spec = {"speculative_decoding": {"num_accepted_draft_tokens": 3, "num_draft_tokens": 4, "num_spec_steps": 2}}
    final = shown(AnswerStream(STREAMED), wire(chunk([97], "length"), {**USAGE_CHUNK, "metrics": spec}))[-1]
    assert final["meta_info"]["spec_accept_token_num"] == 3 and final["meta_info"]["spec_verify_ct"] == 2


def test_usage_in_every_chunk():
    one = {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}
    seen = shown(AnswerStream(STREAMED), wire(chunk([97], usage=one), chunk([98], "length", usage=USAGE)))
    assert [one["meta_info"]["completion_tokens"] for one in seen] == [1, 2]
    assert seen[-1]["meta_info"]["cached_tokens"] == 2


def test_an_abort_chunk_keeps_what_came():
    spans = [{"version": "7", "start": 0, "end": 1}]
    seen = shown(AnswerStream(STREAMED, Bytes()), wire(chunk([97]), chunk([], "abort", weight_versions=spans)))
    assert (seen[-1]["text"], seen[-1].log_probs) == ("a", [-1.0])
    assert seen[-1]["meta_info"]["finish_reason"] == {"type": "abort"}
    assert seen[-1]["meta_info"]["weight_version"] == "7"


def test_an_error_after_the_final_chunk_does_not_swallow_it():
    lines = AnswerStream(STREAMED, Bytes()).lines(
        wire(chunk([97], "stop"), {"error": {"message": "dead", "type": "x", "param": None, "code": 500}})
    )
    assert '"stop"' in next(lines)
    with pytest.raises(StreamError, match="dead"):
        list(lines)


def test_masks_and_spans_of_interleaved_choices():
    seen = shown(
        AnswerStream(STREAMED, Bytes()),
        wire(
            chunk([97], sampling_mask=[[97, 1]]),
            chunk([120], index=1, sampling_mask=[[120]]),
            chunk([98], "length", sampling_mask=[[98]]),
            chunk([121], "abort", index=1, sampling_mask=[[121, 2]]),
        ),
    )
    assert [(one["index"], one["text"]) for one in seen] == [(0, "a"), (1, "x"), (0, "ab"), (1, "xy")]
    assert int32(seen[2]["meta_info"]["top_p_token_ids"]) == [97, 1, 98]
    assert int32(seen[3]["meta_info"]["top_p_token_offsets"]) == [0, 1, 3]


def test_a_streamed_scoring_call_shows_nothing_of_the_forced_token():
    body = {"input_ids": [5], "sampling_params": {"max_new_tokens": 0}, "stream": True}
    (final,) = shown(AnswerStream(body, Bytes()), wire(chunk([97], "length", logprobs=None)))
    assert (final["text"], final["output_ids"]) == ("", [])
    assert final["meta_info"]["finish_reason"] == {"type": "length", "length": 0}


class TwoEnds(Bytes):
    """A model that may end with either of two tokens, whose text shows."""

    all_special_ids = (257, 258)

    def decode(self, ids, skip_special_tokens=False):
        return "".join("<end>" if i > 256 else chr(i) for i in ids if i != 256)


@pytest.mark.parametrize("last", [257, 258])
@pytest.mark.parametrize(("trim", "text"), [(True, "a"), (False, "a<end>")])
def test_every_end_token_of_a_model_is_cut(last, trim, text):
    body = {**STREAMED, "sampling_params": {"no_stop_trim": not trim, "skip_special_tokens": False}}
    assert shown(AnswerStream(body, TwoEnds()), wire(chunk([97, last], "stop")))[-1]["text"] == text


class Counting(Bytes):
    """Counts the tokens that it decodes."""

    decoded = 0

    def decode(self, ids, skip_special_tokens=False):
        self.decoded += len(ids)
        return super().decode(ids, skip_special_tokens)


def test_what_is_decoded_for_a_chunk_does_not_grow():
    costs = []
    for count in (100, 400):
        tokenizer = Counting()
        stream = AnswerStream(STREAMED, tokenizer)
        for _ in range(count):
            stream.read(chunk([97]))
        costs.append(tokenizer.decoded / count)
    assert costs[1] <= costs[0] * 1.1


def test_masks_that_were_asked_for_and_came():
    body = {**STREAMED, "sampling_params": {"custom_params": {"return_top_p_token_ids": True}}}
    seen = shown(AnswerStream(body), wire(chunk([97], sampling_mask=[[97]]), chunk([98], "stop", sampling_mask=[[98]])))
    assert int32(seen[-1]["meta_info"]["top_p_token_ids"]) == [97, 98]
