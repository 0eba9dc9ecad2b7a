"""generate_streaming: samples out of streams, whatever the wire does to them."""

import copy

import pytest
from engines import Faults, turn
from rollout_world import options, serving, tiny_model, write_prompts
from stream_world import DROP, WireServer, chunk, event, stream, usage, use_bytes, wire

from vime.backends.vllm_utils.seam import IncompleteAnswer, UnsupportedRequest
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.engine_call import GenerationFailed
from vime.rollout.groups import leaves, snapshot, to_go_on
from vime.rollout.partial_sample import PartialSample
from vime.rollout.vllm_rollout import generate, generate_rollout
from vime.utils.http_client import HttpStatusError
from vime.utils.types import Sample

Status = Sample.Status
VERSIONS = [{"version": "3", "start": 0, "end": 5}]
ENDED = (chunk("hel"), chunk("lo", "stop", weight_versions=VERSIONS), usage(5))


@pytest.fixture(autouse=True)
def _bytes(monkeypatch):
    use_bytes(monkeypatch)


def partial(**more):
    """A sample that was aborted after the "c" of its response."""
    known = {"tokens": [97, 98, 99], "response": "c", "response_length": 1, "rollout_log_probs": [-0.1]}
    return Sample(prompt="ab", status=Status.ABORTED, **{**known, **more})


def aligned(sample):
    lengths = {len(sample.rollout_log_probs or []), len(sample.loss_mask or [])}
    return lengths == {sample.response_length} and len(sample.tokens) >= sample.response_length


def told(sample):
    plain = sample.to_dict()
    plain.pop("trace", None)
    return plain


def spans_of(sample):
    return next(e["attrs"] for e in sample.trace["events"] if e["type"] == "span_end")


WIRES = {
    "one write": wire(*ENDED),
    "bytes": [bytes([byte]) for byte in wire(*ENDED)],
    "CRLF": wire(*ENDED, end="\r\n"),
    "CR": wire(*ENDED, end="\r"),
    "comments": b": keep-alive\n\n" + wire(*ENDED).replace(b"data:", b": still here\nevent: x\nid: 1\ndata:"),
    "no space": wire(*ENDED).replace(b"data: ", b"data:"),
    "several data lines": wire(*ENDED).replace(b', "', b',\ndata: "'),
    "byte order mark": b"\xef\xbb\xbf" + wire(*ENDED),
    "no [DONE]": wire(*ENDED, done=False),
    "usage with the end": wire(
        chunk("hel"), {**chunk("lo", "stop", weight_versions=VERSIONS), "usage": usage(5)["usage"]}
    ),
    "usage with every chunk": wire(*({**one, "usage": usage(5)["usage"]} for one in ENDED)),
    "no text chunks between": wire(chunk(), ENDED[0], chunk(), ENDED[1], usage(5)),
}


@pytest.mark.parametrize("data", WIRES.values(), ids=WIRES)
def test_the_same_sample_comes_out_of_every_wire(data):
    sample, server = stream(WireServer(data))
    assert (sample.response, sample.status, sample.weight_versions) == ("hello", Status.COMPLETED, ["3"])
    assert sample.tokens == list(b"abhello") and aligned(sample) and sample.rollout_log_probs == [-0.5] * 5
    assert sample.prefix_cache_info.total_prompt_tokens == 2 and len(server.requests) == 1
    span = spans_of(sample)
    assert span["weight_versions"] == VERSIONS and "malformed_events" not in span
    assert (span["prompt_tokens"], span["completion_tokens"], span["finish_reason"]) == (2, 5, "stop")


def test_plain_and_streamed_samples_are_the_same():
    for finish in ("stop", "length", "abort"):
        for text in ("a€ hello wörld", ""):
            script = [turn(text, finish, version="3", cached=1)]
            for sample in (None, partial(), partial(loss_mask=[0])):
                streamed, server = stream(script, copy.deepcopy(sample))
                plain, _ = stream(script, copy.deepcopy(sample), generate=generate)
                assert told(streamed) == told(plain) and server.engine.violations == []


def test_what_was_asked_for_is_what_is_left():
    sample, server = stream([turn("again")], partial(loss_mask=[0]), params={"max_new_tokens": 9})
    assert server.requests[0]["token_ids"] == list(b"abc") and server.requests[0]["sampling_params"]["max_tokens"] == 8
    assert (sample.response, sample.loss_mask) == ("cagain", [0, 1, 1, 1, 1, 1]) and aligned(sample)


def test_nothing_is_asked_where_nothing_is_left_and_the_parameters_stay():
    params = {"max_new_tokens": 1}
    sample, server = stream([turn("x")], partial(), params=params)
    assert sample.status is Status.TRUNCATED and server.requests == [] and params == {"max_new_tokens": 1}


def test_a_chunk_is_added_to_what_is_there_which_is_not_made_anew(monkeypatch):
    """So that it costs what it brings, however long the answer is."""
    lists = []

    def add(partial, delta, original=PartialSample.add):
        original(partial, delta)
        sample = partial.sample
        lists.append((sample.tokens, sample.loss_mask, sample.rollout_log_probs, sample.rollout_top_p_token_ids))

    monkeypatch.setattr(PartialSample, "add", add)
    stream(
        WireServer(wire(*(chunk("x", sampling_mask=[[7]]) for _ in range(9)), chunk("y", "stop", sampling_mask=[[7]])))
    )
    assert len(lists) == 10 and all(one is first for row in lists for one, first in zip(row, lists[0], strict=True))


def test_lists_that_others_hold_stay_as_they_are():
    before = partial(loss_mask=[0], rollout_top_p_token_ids=[1], rollout_top_p_token_offsets=[0, 1])
    held = copy.copy(before)
    stream(WireServer(wire(chunk("x", "stop", sampling_mask=[[4, 5]]))), before)
    assert held.tokens == [97, 98, 99] and held.loss_mask == [0] and held.rollout_top_p_token_offsets == [0, 1]


def test_spans_of_all_weight_versions_are_kept():
    spans = [{"version": "3", "start": 0, "end": 2}, {"version": "4", "start": 2, "end": 5}]
    sample, _ = stream(WireServer(wire(chunk("hello", "stop", weight_versions=spans), usage(5))))
    assert sample.weight_versions == ["3", "4"] and spans_of(sample)["weight_versions"] == spans


def test_speculative_counts_of_the_request():
    metrics = {"speculative_decoding": {"num_accepted_draft_tokens": 3, "num_draft_tokens": 4, "num_spec_steps": 2}}
    sample, _ = stream(
        WireServer(wire(chunk("hello", "stop"), usage(5, metrics=metrics))), vllm_speculative_config="{}"
    )
    assert sample.spec_info.spec_accept_token_num == 3 and spans_of(sample)["spec_verify_ct"] == 2


def test_sampling_masks_add_up():
    masks = [[[1, 2], [3]], [[4]]]
    chunks = (chunk("ab", sampling_mask=masks[0]), chunk("c", "length", sampling_mask=masks[1]), usage(3))
    sample, _ = stream(WireServer(wire(*chunks)))
    assert list(sample.rollout_top_p_token_ids) == [1, 2, 3, 4] and list(sample.rollout_top_p_token_offsets) == [
        0,
        2,
        3,
        4,
    ]


def test_routed_experts_come_once_from_the_last_chunk():
    numpy = pytest.importorskip("numpy")
    import base64
    import io

    file = io.BytesIO()
    numpy.save(file, numpy.arange(8, dtype=numpy.uint8).reshape(4, 1, 2))
    experts = base64.b64encode(file.getvalue()).decode()
    chunks = (chunk("ab"), chunk("c", "stop", routed_experts=experts), usage(3))
    more = {"use_rollout_routing_replay": True, "num_layers": 1, "moe_router_topk": 2}
    sample, _ = stream(WireServer(wire(*chunks)), **more)
    assert sample.rollout_routed_experts.shape == (4, 1, 2) and sample.rollout_routed_experts[3, 0, 1] == 7


def test_images_are_refused():
    server = WireServer(wire(*ENDED))
    with pytest.raises(UnsupportedRequest, match="image_data"):
        stream(server, Sample(prompt="ab", multimodal_inputs={"images": ["image"]}))
    assert server.requests == []


def test_tokens_without_logprobs_are_an_error():
    with pytest.raises(IncompleteAnswer, match="0 logprobs for 5 tokens"):
        stream(WireServer(wire(chunk("hello", "stop", logprobs=None))))


# Streams that do not end properly.

BROKEN = {
    "cut by the network": [wire(chunk("hel"), done=False), DROP],
    "cut inside a chunk": [wire(chunk("hel"), done=False) + event(ENDED[1])[:40], DROP],
    "without an end": wire(chunk("hel")),
    "ended in a malformed event": wire(chunk("hel"), '{"choices": [{"ind', "{}"),
    "an error chunk": wire(chunk("hel"), {"error": {"message": "engine failed", "code": 500}}),
    "ended by an error of the engine's": wire(chunk("hel"), chunk("o", "error"), usage(4)),
    "a chunk is missing": wire(chunk("hel"), chunk("o", "stop"), usage(5)),
    "a chunk was damaged": wire(chunk("hel"), '{"choices"', chunk("o", "stop"), usage(5)),
    "no usage says what was in the damaged one": wire(chunk("hel"), "?", chunk("lo", "stop")),
    "more after the end": wire(*ENDED, chunk("x")),
    "more after the end, and no usage": wire(chunk("hello", "stop"), chunk("x")),
    "a chunk of other things": wire({"choices": ["x"]}),
    "empty": b"",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_stream_is_asked_again_from_the_start(data):
    sample, server = stream(WireServer(data, wire(*ENDED)), partial(loss_mask=[0]))
    assert (sample.response, sample.status, sample.weight_versions) == ("chello", Status.COMPLETED, ["3"])
    assert len(server.requests) == 2 and server.requests[0] == server.requests[1] and aligned(sample)


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_stream_that_breaks_every_time_fails_the_sample(data):
    sample, server = stream(WireServer(data))
    assert sample.status is Status.FAILED and sample.remove_sample and sample.reward == 0.0
    assert "3 attempt(s)" in sample.metadata["generation_failed"] and len(server.requests) == 3
    assert aligned(sample) and sample.weight_versions == []


def test_an_event_that_is_no_json_is_counted_where_nothing_is_missing():
    sample, _ = stream(WireServer(wire(ENDED[0], "no json", *ENDED[1:])))
    assert sample.status is Status.COMPLETED and spans_of(sample)["malformed_events"] == 1


@pytest.mark.parametrize("server", [
    WireServer(wire({"error": {"message": "the prompt is too long", "code": 400}})),
    WireServer(b"the prompt is too long", status=400),
], ids=["in a chunk", "by status"])  # fmt: skip
def test_a_refused_request_fails_the_sample_at_once(server):
    sample, server = stream(server)
    assert sample.status is Status.FAILED and "too long" in sample.metadata["generation_failed"]
    assert len(server.requests) == 1


def test_engines_that_refuse_everything_end_the_rollout():
    with pytest.raises(HttpStatusError, match="404"):
        stream(WireServer(b"", status=404))


def test_no_engine_ends_the_rollout():
    server = WireServer(b"", status=503)
    with pytest.raises(GenerationFailed, match="no engine answered"):
        stream(server, rollout_engine_patience=0.3)


def test_the_time_of_generating_is_not_that_of_waiting():
    slow = [event(chunk("hel")), 0.3, DROP]
    sample, server = stream(WireServer(slow, wire(*ENDED)), rollout_engine_patience=0.1)
    assert sample.status is Status.COMPLETED and len(server.requests) == 2


# Aborts.


def test_an_abort_keeps_what_there_is_and_lets_go_of_the_engine():
    sample, _ = stream([turn("x" * 400)], abort_after=0.1, faults={"pace": 0.005}, params={"max_new_tokens": 500})
    assert sample.status is Status.ABORTED and 0 < sample.response_length < 400 and aligned(sample)
    assert sample.response == "x" * sample.response_length


def test_an_abort_in_silence_is_no_deadlock_once_a_chunk_came():
    sample, _ = stream(WireServer([event(chunk("hel")), 0.2, event(chunk("l")), 15.0]), abort_after=0.1)
    assert (sample.status, sample.response) == (Status.ABORTED, "hell")


@pytest.mark.parametrize("end", [DROP, event({"error": {"message": "engine failed", "code": 500}}), b""],
                         ids=["cut", "error", "no end"])  # fmt: skip
def test_an_abort_wins_over_a_failure(end):
    sample, server = stream(WireServer([event(chunk("hel")), 0.2, end]), abort_after=0.1)
    assert (sample.status, sample.response) == (Status.ABORTED, "hel") and aligned(sample)
    assert len(server.requests) == 1 and not sample.remove_sample


def test_an_abort_with_a_damaged_chunk_keeps_nothing_of_the_stream():
    sample, _ = stream(WireServer([event(chunk("hel")) + event("?") + event(chunk("o")), 0.2, DROP]), abort_after=0.1)
    assert (sample.status, sample.response, sample.response_length) == (Status.ABORTED, "", 0)


@pytest.mark.parametrize("after", [[wire(*ENDED[2:])], [DROP], [15.0]], ids=["the rest", "a cut", "silence"])
def test_an_abort_wins_over_an_end_and_the_sample_is_done_when_it_is_taken_up(after):
    sample, _ = stream(WireServer([event(chunk("hel")), 0.2, event(ENDED[1]), *after]), abort_after=0.1)
    assert (sample.status, sample.response) == (Status.ABORTED, "hello") and sample.weight_versions == ["3"]
    sample = Sample.from_dict(sample.to_dict())
    sample, server = stream([turn("more")], sample)
    assert (sample.status, sample.response) == (Status.COMPLETED, "hello") and server.requests == []


def test_the_end_of_a_rollout_does_not_abort_evaluation():
    async def evaluating(args, sample, params):
        from vime.rollout.vllm_streaming_rollout import generate_streaming

        return await generate_streaming(args, sample, params, evaluation=True)

    sample, _ = stream(WireServer([event(chunk("hel")), 0.2, wire(*ENDED[1:])]), abort_after=0.1, generate=evaluating)
    assert (sample.status, sample.response) == (Status.COMPLETED, "hello")


# Text.


@pytest.mark.parametrize("text", ["a€ héllo 漢字", "👩‍🚀", "é" * 8])
def test_at_every_cut_the_text_goes_on_as_if_there_was_none(text):
    whole = list(text.encode())
    for cut in range(1, len(whole)):
        head = bytes(whole[:cut]).decode("utf-8", "replace")
        known = {"tokens": [97, 98, *whole[:cut]], "response": head, "response_length": cut}
        rest = [
            chunk(finish="stop", token_ids=whole[cut:], logprobs={"content": [{"logprob": -1.0}] * len(whole[cut:])})
        ]
        sample, _ = stream(
            WireServer(wire(*rest)), partial(**known, rollout_log_probs=[-1.0] * cut), params={"max_new_tokens": 99}
        )
        assert sample.response == text and aligned(sample)


def test_broken_characters_are_what_the_tokenizer_makes_of_all_tokens():
    ids = [0xFF] * 7 + [0xE2, 0x82, 0xAC, 0xE2]
    content = {"content": [{"logprob": -1.0}]}
    chunks = [chunk(token_ids=[one], logprobs=content) for one in ids[:-1]]
    last = chunk(token_ids=ids[-1:], logprobs=content, finish="length")
    sample, _ = stream(WireServer(wire(*chunks, last)))
    assert sample.response == bytes(ids).decode("utf-8", "replace")


# Whole rollouts.

GENERATE = "vime.rollout.vllm_streaming_rollout.generate_streaming"


def test_a_group_with_a_failed_sample_is_dropped_and_told(tmp_path, monkeypatch):
    tiny_model(monkeypatch)
    answers = [wire(chunk("hel")), wire(*ENDED)]
    with serving(None, server=lambda *_: WireServer(*answers)) as server:
        args = options(
            vllm_router_port=server.port,
            prompt_data=write_prompts(tmp_path / "p.jsonl"),
            custom_generate_function_path=GENERATE,
            rollout_request_attempts=1,
        )
        output = generate_rollout(args, 0, RolloutDataSourceWithBuffer(args))
    assert output.metrics["rollout/prompts_dropped/generation_failed"] == 1
    assert output.metrics["rollout/prompts_trained"] == 4
    assert {sample.status for sample in leaves(output.samples)} == {Status.COMPLETED}


def test_what_failed_goes_back_as_it_was():
    issued = [partial(index=0), partial(index=1)]
    kept = snapshot(issued)
    failed, _ = stream(WireServer(wire(chunk("hel"))), issued[0])
    other, _ = stream(WireServer(wire(*ENDED)), issued[1])
    back = to_go_on([failed, other], kept, 3, partial=True)
    assert [sample.status for sample in back] == [Status.ABORTED, Status.COMPLETED]
    assert (back[0].response, back[0].reward, back[0].metadata, back[0].remove_sample) == ("c", None, {}, False)
    again, _ = stream(WireServer(wire(*ENDED)), back[0])
    assert (again.response, again.status) == ("chello", Status.COMPLETED)


def test_what_is_kept_of_a_sample_does_not_change_with_it():
    issued = [partial(index=0, loss_mask=[1], weight_versions=["2"])]
    (kept,) = snapshot(issued)
    before = copy.deepcopy(kept.to_dict())
    issued[0].loss_mask += [0]  # as rollout code of upstream's does
    issued[0].metadata["seen"] = True
    meta = {"finish_reason": {"type": "stop"}, "weight_version": "3", "prompt_tokens": 2, "cached_tokens": 1}
    issued[0].loss_mask.pop()
    issued[0].append_response_tokens(tokens=[100], log_probs=[-1.0], meta_info=meta)
    assert kept.to_dict() == before


def test_a_rollout_that_aborts_goes_on_from_its_partial_samples(tmp_path, monkeypatch):
    tiny_model(monkeypatch)
    slow = turn("x" * 30, "stop", version="1")
    with serving([slow], Faults(pace=0.004)) as server:
        args = options(
            vllm_router_port=server.port,
            prompt_data=write_prompts(tmp_path / "p.jsonl"),
            custom_generate_function_path=GENERATE,
            partial_rollout=True,
            over_sampling_batch_size=8,
            vllm_server_concurrency=10,
            rollout_max_response_len=64,
        )
        source = RolloutDataSourceWithBuffer(args)
        outputs = [generate_rollout(args, number, source) for number in range(2)]
        assert server.engine.violations == []
    for output in outputs:
        assert output.metrics["rollout/prompts_trained"] == 4
    for sample in [*leaves([output.samples for output in outputs]), *leaves(source.buffer)]:
        assert aligned(sample) or sample.response_length == 0
        assert sample.response == "x" * sample.response_length
