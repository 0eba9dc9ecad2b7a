"""Upstream's streaming rollout and its translation, over real sockets, on both protocols."""

import base64
import sys
import types
from copy import deepcopy

import pytest
from engines import SglangServer, VllmServer, turn
from test_over_http import ARGS, run, told, upstream_names  # noqa: F401

from sync_tools.translate import Translator
from vime.utils import processing_utils
from vime.utils.types import Sample

MODULE = "slime/rollout/sglang_streaming_rollout.py"
LATER = "624b824a898ab0ec1fcb4d373004c7f3852bf515"
OURS = b"from vime.rollout.vllm_streaming_rollout import generate_streaming as generate"
COMMIT = "35e8767f94b4742ebbb722ae5e901ca29c0f967e"
PARTIAL = {"tokens": [97, 98, 99], "response": "c", "response_length": 1, "rollout_log_probs": [-0.1]}
SCRIPTS = {
    "stop": [turn("hello world", "stop", version="3", cached=1)],
    "length": [turn("hello wor", "length")],
    "abort": [turn("he", "abort")],
    "multi-byte": [turn("a€ héllo 漢字", "stop")],
}


@pytest.fixture
def worlds(show, monkeypatch, upstream_names):  # noqa: F811
    pytest.importorskip("numpy", reason="upstream's module imports numpy")
    monkeypatch.setitem(sys.modules, "pybase64", base64)
    monkeypatch.setitem(sys.modules, "slime.utils.processing_utils", processing_utils)
    monkeypatch.setitem(sys.modules, "slime.utils.trace_utils", sys.modules["slime.observability.trace_utils"])
    monkeypatch.setitem(ARGS, "ci_test", False)
    source = show(f"{COMMIT}:{MODULE}")
    ported = Translator(style="module").file(MODULE, source).data
    alias = b"\ngenerate = generate_streaming\n"
    return source + alias, ported + alias


def both(worlds, script, abort_after=None, faults=None, **sample):
    source, ported = worlds
    upstream, _ = run(source, SglangServer, script, faults or {}, Sample(prompt="ab", **deepcopy(sample)), abort_after)
    downstream, server = run(
        ported, VllmServer, script, faults or {}, Sample(prompt="ab", **deepcopy(sample)), abort_after
    )
    assert server.engine.violations == []
    return upstream, downstream


@pytest.mark.upstream
@pytest.mark.parametrize("kind", SCRIPTS)
def test_equal_samples_come_out(kind, worlds):
    upstream, downstream = both(worlds, SCRIPTS[kind])
    assert told(upstream) == told(downstream) and upstream.response_length


@pytest.mark.upstream
def test_a_partial_sample_is_taken_up_again(worlds):
    upstream, downstream = both(worlds, [turn("again")], status=Sample.Status.ABORTED, **PARTIAL)
    assert told(upstream) == told(downstream) and upstream.response == "cagain"


@pytest.mark.upstream
def test_an_abort_in_mid_stream_leaves_a_coherent_sample(worlds):
    for sample in both(worlds, [turn("x" * 400)], abort_after=0.1, faults={"pace": 0.005}):
        assert sample.status is Sample.Status.ABORTED and 0 < sample.response_length < 400
        assert len(sample.response) == sample.response_length == len(sample.rollout_log_probs)


@pytest.mark.upstream
@pytest.mark.parametrize(
    "sample", [{}, {"status": Sample.Status.ABORTED, "loss_mask": [0], **PARTIAL}], ids=["new", "partial"]
)
@pytest.mark.parametrize("kind", SCRIPTS)
def test_ours_gives_the_samples_of_the_translated_module(kind, sample, worlds, show):
    ported = (
        Translator(style="module").file(MODULE, show(f"{LATER}:{MODULE}")).data + b"\ngenerate = generate_streaming\n"
    )
    for faults in ({}, {"cut": 1}):
        results = [
            run(source, VllmServer, SCRIPTS[kind], faults, Sample(prompt="ab", **deepcopy(sample)))
            for source in (ported, OURS)
        ]
        (theirs, one), (ours, other) = results
        assert told(ours) == told(theirs) and one.requests == other.requests and other.engine.violations == []


@pytest.mark.upstream
def test_images_are_refused_with_a_clear_error_and_not_ignored(worlds, monkeypatch):
    _, ported = worlds
    namespace = types.SimpleNamespace(images=["image"])
    monkeypatch.setattr(processing_utils, "encode_image_for_rollout_engine", lambda image: "data:image/png;base64,AA")
    with pytest.raises(Exception, match="image"):
        run(ported, VllmServer, [turn("x")], {}, Sample(prompt="ab", multimodal_inputs={"images": namespace.images}))
