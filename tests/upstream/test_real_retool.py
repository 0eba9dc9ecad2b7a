"""Upstream's ReTool generate function, translated, beside ours at the same engine: the same samples come out."""

import asyncio
import sys
import types

import pytest
from doubles import ByteTokenizer
from engines import VllmServer, turn
from retool_world import ANSWER, CALL, arguments, use

from sync_tools.translate import Translator
from vime.rollout import vllm_rollout
from vime.utils.types import Sample

MODULE = "examples/retool/generate_with_retool.py"
LATER = "624b824a898ab0ec1fcb4d373004c7f3852bf515"
TURNS = {"max_turns": 16, "max_tool_calls": 16, "tool_concurrency": 32}
SCRIPTS = {
    "an answer": [turn(ANSWER)],
    "a call and an answer": [turn(CALL), turn(ANSWER)],
    "two calls": [turn(CALL), turn(CALL), turn(ANSWER)],
    "a turn that is cut": [turn(CALL), turn("Answer", "length")],
    "an abort": [turn(CALL), turn("", "abort")],
}
REAL = {
    "retool_prompt": "retool",
    "retool_observation": "\n\n<interpreter>\n{result}\n</interpreter>\n\n",
    "rollout_max_context_len": 4000,
}
TOLD = ("response", "response_length", "loss_mask", "rollout_log_probs", "status")

pytestmark = pytest.mark.upstream


@pytest.fixture
def translated(show, monkeypatch):
    """The module, with tools that say what ours do: upstream's own run code in no sandbox."""
    import tool_sandbox

    ours = tool_sandbox.tool_registry

    async def execute_tool(name, given):
        return await ours(tools.args).execute_tool(name, given)

    specs = [tool_sandbox._CODE_SPEC]
    registry = types.SimpleNamespace(get_tool_specs=lambda: specs, execute_tool=execute_tool)
    tools = types.ModuleType("tool_sandbox")
    tools.SEMAPHORE, tools.TOOL_CONFIGS, tools.tool_registry = asyncio.Semaphore(32), TURNS, registry
    use(monkeypatch)
    module = types.ModuleType("translated_retool")
    source = Translator(style="module").file(MODULE, show(f"{LATER}:{MODULE}")).data
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tool_sandbox", tools)
        exec(compile(source, MODULE, "exec"), module.__dict__)

    def generate(args, sample, params):
        tools.args = args
        return module.generate(args, sample, params)

    return generate


def made_by(generate, script, **more):
    """What becomes of a sample at an engine that answers from `script`."""
    import tool_sandbox

    async def go():
        vllm_rollout.GenerateState.clear_instances()
        tool_sandbox.ToolRegistry.clear_instances()
        async with VllmServer(script) as server:
            args = arguments(vllm_router_port=server.port, **{**REAL, **more})
            sample = Sample(prompt="What is 3+4?", index=7, label="7")
            found = await asyncio.wait_for(generate(args, sample, {"max_new_tokens": 100}), 20)
            assert server.engine.violations == []
            return found

    return asyncio.run(go())


@pytest.mark.parametrize("kind", SCRIPTS)
def test_the_same_samples_come_out(kind, translated):
    from generate_with_retool import generate

    ours, theirs = made_by(generate, SCRIPTS[kind]), made_by(translated, SCRIPTS[kind])
    assert theirs.status is not Sample.Status.PENDING
    if theirs.status is Sample.Status.ABORTED:
        assert ours.status is theirs.status  # what was generated is thrown away
        return
    assert told(ours) == told(theirs)
    assert ours.response == ByteTokenizer().decode(response_ids(ours))
    assert ours.tool_call_count == theirs.tool_call_count


@pytest.mark.parametrize("room", [1, 9, 20])
def test_tool_output_that_overflows_is_cut_at_the_same_token(room, translated):
    """The two prompts are in words of their own, and so of different lengths."""
    from generate_with_retool import generate

    script, found = [turn(CALL), turn(ANSWER)], []
    for each in (generate, translated):
        whole = made_by(each, script)
        limit = len(whole.tokens) - whole.response_length + len(CALL) + room
        found.append(made_by(each, script, rollout_max_context_len=limit))
        assert len(found[-1].tokens) == limit
    assert told(found[0]) == told(found[1]) and found[0].status is Sample.Status.TRUNCATED


def told(sample):
    return {name: getattr(sample, name) for name in TOLD} | {"ids": response_ids(sample)}


def response_ids(sample):
    return sample.tokens[len(sample.tokens) - sample.response_length :]
