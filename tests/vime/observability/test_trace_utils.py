"""Spans are written on the samples that they were for, and never break the work."""

import asyncio

import pytest

from vime.observability import trace_utils
from vime.observability.trace_utils import (
    bind_trace,
    build_vllm_meta_trace_attrs,
    export_trace,
    import_trace,
    trace_event,
    trace_function,
    trace_next_attempt,
    trace_span,
)
from vime.utils.types import Sample


def shown(sample):
    return [(event["type"], event["name"], event.get("attrs")) for event in sample.trace["events"]]


def test_a_span_has_a_start_and_an_end():
    sample = Sample(index=7, group_index=2)
    with trace_span(sample, "work", attrs={"n": 1}) as span:
        span.update({"tokens": 3})
        span.set("kind", "stop")
    assert shown(sample) == [("span_start", "work", {"n": 1}), ("span_end", "work", {"tokens": 3, "kind": "stop"})]
    start, end = sample.trace["events"]
    assert start["span_id"] == end["span_id"] and start["ts"] <= end["ts"]
    assert (start["sample_id"], start["group_id"]) == (7, 2)
    span.set("late", True)
    assert end["attrs"]["late"] is True


def test_spans_nest_by_trace():
    one, other = Sample(), Sample()
    with trace_span([one, other], "group"), trace_span(one, "inner"):
        trace_event(one, "note")
    group, inner = one.trace["events"][:2]
    assert inner["parent_span_id"] == group["span_id"]
    assert "parent_span_id" not in other.trace["events"][0]
    assert len(other.trace["events"]) == 2


def test_an_error_is_noted_and_goes_on():
    sample = Sample()
    with pytest.raises(KeyError), trace_span(sample, "work"):
        raise KeyError("x")
    assert shown(sample)[-1][2] == {"error_type": "KeyError", "error_message": "'x'"}
    with trace_span(sample, "after"):
        pass
    assert "parent_span_id" not in sample.trace["events"][-2]


def test_concurrent_tasks_do_not_mix():
    samples = [Sample(index=i) for i in range(3)]

    async def one(sample):
        with trace_span(sample, "outer"):
            await asyncio.sleep(0)
            with trace_span(sample, "inner"):
                await asyncio.sleep(0)

    async def go():
        await asyncio.gather(*(one(sample) for sample in samples))

    asyncio.run(go())
    for sample in samples:
        outer, inner = sample.trace["events"][:2]
        assert inner["parent_span_id"] == outer["span_id"]


def test_a_decorated_function_is_traced_whatever_its_kind():
    @trace_function("plain")
    def plain(a, sample):
        return a

    @trace_function("async", target="group", attrs_getter=lambda group: {"size": len(group)})
    async def gathered(group):
        return len(group)

    @trace_function("got", target_getter=lambda box: box["sample"])
    def got(box):
        return "got"

    sample = Sample()
    assert plain(3, sample) == 3
    assert asyncio.run(gathered([sample])) == 1
    assert got({"sample": sample}) == "got"
    assert [name for kind, name, _ in shown(sample) if kind == "span_start"] == ["plain", "async", "got"]
    assert gathered.__name__ == "gathered"


def test_what_cannot_be_traced_is_run_untraced():
    @trace_function("nothing", target="missing", attrs_getter=lambda **_: 1 / 0)
    def function(value):
        return value

    assert function(5) == 5
    with pytest.raises(TypeError):
        function()


def test_a_trace_goes_on_in_another_process():
    sample = Sample(index=1)
    with trace_span(sample, "here"):
        sent = export_trace(bind_trace(sample))
    there = import_trace(sent)
    with trace_span(there, "there"):
        pass
    event = there.carrier["events"][0]
    assert event["trace_id"] == sample.trace["trace_id"]
    assert event["parent_span_id"] == sample.trace["events"][0]["span_id"]


def test_attempts_are_counted():
    sample = Sample()
    trace_event(sample, "first")
    trace_next_attempt(sample, attrs={"why": "abort"})
    trace_event(sample, "second")
    assert [event["attempt"] for event in sample.trace["events"]] == [0, 1, 1]


def test_attributes_of_an_answer():
    meta = {"finish_reason": {"type": "stop"}, "prompt_tokens": 3, "cached_tokens": 0, "queue_time": None, "other": 1}
    assert build_vllm_meta_trace_attrs(meta) == {"prompt_tokens": 3, "cached_tokens": 0, "finish_reason": "stop"}
    with pytest.raises(KeyError):
        build_vllm_meta_trace_attrs({})


def test_the_older_place_has_the_same_names():
    from vime.utils import trace_utils as older

    assert all(getattr(older, name) is getattr(trace_utils, name) for name in older.__all__)
