"""What answers may be anything: a sample is generated, failed, or an error of ours says what came; its lists stay in step."""

import copy
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollout_world import options
from stream_world import WireServer, chunk, stream, usage, use_bytes, wire

from vime.errors import says_what_is_wrong
from vime.rollout.sample_checks import SampleInvalid
from vime.rollout.train_data import convert_samples_to_train_data
from vime.rollout.vllm_rollout import generate
from vime.rollout.wire_shape import MalformedAnswer
from vime.utils import json_bytes
from vime.utils.types import Sample

Status = Sample.Status
ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-2, 300) | st.sampled_from([2**31, 2**63, 10**400, "stop", "error"])
    | st.text(max_size=3),
    lambda one: st.lists(one, max_size=5) | st.dictionaries(st.sampled_from(["logprob", "content", "version", "x"]), one, max_size=3),
    max_leaves=6,
)  # fmt: skip
PLACES = [
    *(("choices", 0, name) for name in ("index", "token_ids", "logprobs", "sampling_mask", "text", "finish_reason")),
    *(("choices", 0, name) for name in ("stop_reason", "weight_versions", "routed_experts")),
    *(("choices", 0, "token_ids", 1), ("choices", 0, "logprobs", "content"), ("choices", 0, "logprobs", "content", 1)),
    *(("choices", 0, "logprobs", "content", 0, "logprob"), ("choices", 0), ("choices",), ("usage",), ("metrics",)),
    *(("usage", "completion_tokens"), ("usage", "prompt_tokens"), ("usage", "prompt_tokens_details"), ("request_id",)),
    *(("metrics", "speculative_decoding"), ("error",)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _bytes(monkeypatch):
    use_bytes(monkeypatch)


def whole(finish="stop"):
    """An answer of five tokens in one piece, as a chunk and as a plain answer."""
    return {**chunk("hello", finish), "usage": usage(5)["usage"], "metrics": {}}


def with_odd(place, value):
    answer = whole()
    at = answer
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    return answer


def in_step(sample):
    length = sample.response_length
    known = [len(values) for values in (sample.loss_mask, sample.rollout_log_probs) if values is not None]
    assert set(known) <= {length} and len(sample.tokens) in (length, 2 + length)
    assert all(type(token) is int and 0 <= token < 2**31 for token in sample.tokens)
    assert all(type(one) is float for one in sample.rollout_log_probs or ())


def answered(body, **more):
    """The sample, and the error that ended it; an error that is none of ours is raised."""
    sample = Sample(prompt="ab", index=7, group_index=3)
    try:
        stream(WireServer(body), sample, rollout_request_attempts=1, **more)
    except Exception as error:
        if not says_what_is_wrong(error):
            raise
        return sample, error
    return sample, None


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES), ODD, st.booleans())
def test_whatever_stands_in_a_chunk_the_sample_stays_in_step(place, value, first):
    odd = with_odd(place, value)
    chunks = (chunk("he"), odd, usage(7)) if first else (odd,)
    sample, _ = answered(wire(*map(copy.deepcopy, chunks)))
    in_step(sample)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES), ODD)
def test_whatever_stands_in_an_answer_the_sample_stays_in_step(place, value):
    answer = with_odd(place, value)
    if isinstance(answer["choices"], list) and answer["choices"] and isinstance(answer["choices"][0], dict):
        answer["choices"][0].setdefault("text", "hello")
    sample, _ = answered(json.dumps(answer).encode(), generate=generate)
    in_step(sample)


NO_ANSWERS = {
    "a page": b"<html><body>Sign in</body></html>",
    "an error": b'{"error": {"message": "no such route", "code": 404}}',
    "a list": b"[1]",
    "a number": b"5",
    "nothing": b"",
    "nested deep": b"[" * 100_000,
    "nested deep inside": b'{"choices": [{"token_ids": ' + b"[" * 100_000,
    "no completion": b'{"choices": []}',
    "two completions": json.dumps({"choices": whole()["choices"] * 2}).encode(),
    "no tokens": json.dumps({"choices": [{"finish_reason": "stop", "text": ""}]}).encode(),
}


@pytest.mark.parametrize("body", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_is_told_with_what_it_is(body):
    sample, error = answered(body, generate=generate)
    assert isinstance(error, MalformedAnswer) and "--vllm-router-ip" in str(error) and len(str(error)) < 600
    in_step(sample)


@pytest.mark.parametrize("name", sorted(NO_ANSWERS.keys() - {"an error", "no tokens"}))
def test_as_a_stream_it_fails_the_sample(name):
    body = NO_ANSWERS[name]
    for data in (body, b"data: " + body + b"\n\n"):
        sample, error = answered(data)
        assert error is None and sample.status is Status.FAILED and sample.metadata["generation_failed"]


@pytest.mark.parametrize("after", [chunk(""), chunk("", "length"), chunk("x"), chunk("", "stop")],
                         ids=["nothing", "another end", "a token", "the same end"])  # fmt: skip
def test_more_after_the_end_is_no_answer(after):
    sample, _ = answered(wire(chunk("hello", "stop"), after, usage(5)))
    assert sample.status is Status.FAILED
    in_step(sample)


@pytest.mark.parametrize("number", [None, math.nan, -math.inf, 5.0])
def test_logprobs_that_are_none_are_never_trained_on(number):
    """A server writes NaN as null, where it streams."""
    content = [{"logprob": number}, *({"logprob": -1.0} for _ in range(4))]
    for generate_it, body in (({}, wire), ({"generate": generate}, lambda one: json.dumps(one).encode())):
        answer = chunk("hello", "stop", logprobs={"content": content})
        answer["choices"][0]["text"] = "hello"
        sample, error = answered(body(answer), **generate_it)
        assert error is None and sample.status is Status.COMPLETED
        in_step(sample)
        sample.reward = 1.0
        with pytest.raises(SampleInvalid, match=r"sample 7 .*rollout_log_probs is .* at response position 0"):
            convert_samples_to_train_data(options(), [[sample]])


def test_json_that_is_nested_too_deep_is_no_json():
    for data in (b"[" * 100_000, '{"a":' * 100_000):
        with pytest.raises(ValueError, match="deep"):
            json_bytes.loads(data)
