"""Cases over real sockets: upstream's code against an SGLang server, its translation on vime against a vLLM server."""

import argparse
import asyncio
import sys
import types
from pathlib import Path

import pytest
from doubles import ByteTokenizer
from engines import Faults, SglangServer, VllmServer, turn

from vime.observability import trace_utils
from vime.rollout import vllm_rollout
from vime.utils import http_utils
from vime.utils import types as vime_types
from vime.utils.types import Sample

CASES = Path(__file__).parent / "cases"
ARGS = {
    "hf_checkpoint": "tiny", "rollout_num_gpus": 1, "rollout_num_gpus_per_engine": 1, "rollout_temperature": 1.0,
    "rollout_top_p": 1.0, "rollout_top_k": -1, "rollout_max_response_len": 16, "rollout_stop": None,
    "rollout_stop_token_ids": None, "rollout_skip_special_tokens": True, "use_rollout_routing_replay": False,
    "vllm_speculative_config": None,
}  # fmt: skip
FAULTS = {"whole": {}, "cut to bytes": {"cut": 1}, "slow": {"pace": 0.002}}


@pytest.fixture(autouse=True)
def upstream_names(monkeypatch):
    """Upstream's modules under their names, with our parts in them; a tokenizer of bytes on both sides."""
    monkeypatch.setattr(vllm_rollout, "load_tokenizer", lambda *_, **__: ByteTokenizer())
    monkeypatch.setattr(vllm_rollout, "load_processor", lambda *_, **__: None)
    vllm_rollout.GenerateState.clear_instances()
    tracing = types.SimpleNamespace(**vars(trace_utils), build_sglang_meta_trace_attrs=lambda meta: {})
    modules = {
        "slime": types.ModuleType("slime"),
        "slime.utils": types.SimpleNamespace(http_utils=http_utils),
        "slime.utils.http_utils": http_utils,
        "slime.utils.types": vime_types,
        "slime.rollout.sglang_rollout": vllm_rollout,
        "slime.observability.trace_utils": tracing,
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


def run(source, server_class, script, faults, sample, abort_after=None):
    """What the case makes of `sample`, and the server that it talked to."""

    async def go():
        async with server_class(script, Faults(**faults)) as server:
            sides = {f"{side}_{name}": value for side in ("sglang", "vllm") for name, value in (
                ("router_ip", "127.0.0.1"), ("router_port", server.port), ("server_concurrency", 4), ("model_routers", None)
            )}  # fmt: skip
            args = argparse.Namespace(**ARGS, **sides)
            if abort_after is not None:
                state = vllm_rollout.GenerateState(args)
                asyncio.get_running_loop().call_later(abort_after, setattr, state, "aborted", True)
            namespace = {"__name__": "case"}
            exec(compile(source, "case", "exec"), namespace)
            result = await asyncio.wait_for(namespace["generate"](args, sample, {"max_new_tokens": 16}), 10)
            await asyncio.sleep(0.02)
            return result, server

    return asyncio.run(go())


def both(name, translate, script, faults=None, abort_after=None, **sample):
    source = (CASES / f"{name}.py").read_bytes()
    ported = translate(f"examples/{name}.py", source).data
    upstream, before = run(source, SglangServer, script, faults or {}, Sample(prompt="ab", **sample), abort_after)
    downstream, after = run(ported, VllmServer, script, faults or {}, Sample(prompt="ab", **sample), abort_after)
    assert after.engine.violations == []
    return upstream, before, downstream, after


def told(sample):
    """A sample without what only one of the protocols reports."""
    plain = sample.to_dict()
    plain.pop("trace", None)
    return plain


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("finish", ["stop", "length", "abort"])
@pytest.mark.parametrize("name", ["stream_appends", "stream_generator", "stream_decoder", "stream_accumulator"])
def test_streams(name, finish, faults, translate):
    script = [turn("a€ hello wörld", finish, version="3", cached=1)]
    upstream, before, downstream, after = both(name, translate, script, faults)
    assert told(upstream) == told(downstream)
    assert upstream.response == "a€ hello wörld"
    assert before.engine.calls == after.engine.calls


def test_a_stream_goes_on_from_a_partial_sample(translate):
    partial = {"tokens": [97, 98, 99], "response": "c", "response_length": 1, "rollout_log_probs": [-0.1]}
    upstream, _, downstream, _ = both(
        "stream_appends", translate, [turn("again")], status=Sample.Status.ABORTED, **partial
    )
    assert told(upstream) == told(downstream)
    assert (upstream.response, upstream.response_length) == ("cagain", 6)


def test_an_abort_in_mid_stream_keeps_what_there_is_and_lets_go_of_the_engine(translate):
    upstream, before, downstream, after = both(
        "stream_appends", translate, [turn("x" * 400)], {"pace": 0.005}, abort_after=0.1
    )
    for sample, server in ((upstream, before), (downstream, after)):
        assert sample.status is Sample.Status.ABORTED
        assert 0 < sample.response_length < 400 == len(server.engine.script[0]["tokens"])
        assert len(sample.response) == sample.response_length == len(sample.rollout_log_probs)
        assert server.disconnects == 1


def test_a_broken_connection_keeps_what_there_is(translate):
    upstream, _, downstream, _ = both(
        "stream_breaks", translate, [turn("hello world")], {"drop_after": 2, "pace": 0.01}
    )
    assert told(upstream) == told(downstream)
    assert (upstream.response, upstream.status) == ("hell", Sample.Status.ABORTED)


def test_an_error_inside_a_stream_is_an_error(translate):
    source = (CASES / "stream_generator.py").read_bytes()
    ported = translate("examples/stream_generator.py", source).data
    with pytest.raises(RuntimeError, match="engine failed"):
        run(ported, VllmServer, [turn("hello world")], {"error_after": 2}, Sample(prompt="ab"))


@pytest.mark.parametrize(
    "name", ["helper_parses_answer", "own_session", "own_session_text", "several_samples", "text_prompts"]
)
def test_answers(name, translate):
    upstream, before, downstream, after = both(name, translate, [turn("héllo"), turn("there", "length")])
    assert told(upstream) == told(downstream)
    assert before.engine.calls == after.engine.calls


@pytest.mark.parametrize("name", ["abort_by_rid", "abort_everything", "pause_and_continue", "memory_control"])
def test_control(name, translate):
    upstream, before, downstream, after = both(name, translate, [turn("abc", "length")])
    upstream.metadata.pop("urls", None), downstream.metadata.pop("urls", None)
    upstream.metadata.pop("awake", None), downstream.metadata.pop("awake", None)
    assert told(upstream) == told(downstream)
    assert len(before.engine.control) == len(after.engine.control) > 0
