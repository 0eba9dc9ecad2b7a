"""The ReTool example's modules, an engine and a sandbox that answer from scripts, and conversations with them."""

import asyncio
import os

import tool_sandbox
from doubles import ByteTokenizer
from engines import VllmServer, turn
from generate_with_retool import generate
from rollout_world import options
from sandbox_world import started

from vime.rollout import vllm_rollout
from vime.sandbox import Protection, Result, Sandbox
from vime.utils.types import Sample

CALL = '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(1)"}}\n</tool_call>'
ANSWER = "Answer: \\boxed{7}"


class Script:
    """A sandbox that prints the next of `outputs`, the last again and again; `codes` is what it was given."""

    def __init__(self, *outputs, hold=0.0):
        self.outputs, self.hold, self.codes = list(outputs) or ["1\n"], hold, []
        self.running = self.most = 0

    def __call__(self, mode, places, limits):
        self.mode, self.places, self.limits = mode, places, limits
        return self

    def protections(self):
        return (Protection("network", True, ""),)

    async def run_async(self, code):
        self.codes.append(code)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(self.hold)
        self.running -= 1
        output = self.outputs.pop(0) if len(self.outputs) > 1 else self.outputs[0]
        return output if isinstance(output, Result) else Result(output, "", 0, "exit", 0.0)

    def close(self):
        pass


def use(monkeypatch, sandbox=None):
    """The tokenizer of bytes for the checkpoint's, and a scripted sandbox for the real one; no settings of the machine's."""
    for name in [name for name in os.environ if name.startswith("RETOOL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(vllm_rollout, "load_tokenizer", lambda *_, **__: ByteTokenizer())
    monkeypatch.setattr(vllm_rollout, "load_processor", lambda *_, **__: None)
    sandbox = sandbox or Script()
    monkeypatch.setattr(tool_sandbox, "Sandbox", sandbox)
    return sandbox


def use_real(monkeypatch):
    """The real sandbox; the test is skipped where the system allows none."""
    started("namespaces").close()
    monkeypatch.setattr(tool_sandbox, "Sandbox", Sandbox)


def arguments(**more):
    """`args` of a run whose prompts are ready and whose tools say what they print and nothing else."""
    bare = {
        "retool_prompt": "as_is",
        "retool_observation": "[{result}]",
        "retool_output_heading": "",
        "vllm_dp_size": 1,
    }
    return options(**{"rollout_max_context_len": 500, **bare, **more})


def converse(script, sample=None, params=None, before=None, evaluation=False, faults=None, **more):
    """What becomes of a sample with the prompt "ab" at an engine that answers from `script`; and the server."""
    sample = Sample(prompt="ab", index=7, label="7") if sample is None else sample

    async def go():
        vllm_rollout.GenerateState.clear_instances()
        tool_sandbox.ToolRegistry.clear_instances()
        async with VllmServer([turn(one) if isinstance(one, str) else one for one in script], faults) as server:
            args = arguments(vllm_router_port=server.port, **more)
            if before:
                before(vllm_rollout.GenerateState(args))
            wanted = {"max_new_tokens": 100, **(params or {})}
            found = await asyncio.wait_for(generate(args, sample, wanted, evaluation), 20)
            assert server.engine.violations == []
            check_in_step(found)
            return found, server

    return asyncio.run(go())


def check_in_step(sample):
    """Whatever happened, the lists are as long as the response, and the text is that of the tokens."""
    length = sample.response_length
    assert len(sample.loss_mask) == length
    assert sample.rollout_log_probs is None or len(sample.rollout_log_probs) == length
    tokens = sample.tokens[len(sample.tokens) - length :]
    assert sample.response == (ByteTokenizer().decode(tokens) if tokens else "")


def executed(*codes, **more):
    """What the real tool says to each code in turn."""

    async def run():
        tools = tool_sandbox.ToolRegistry(arguments(retool_tool_concurrency=2, **more))
        try:
            return [await tools.execute_tool("code_interpreter", {"code": code}) for code in codes]
        finally:
            tools.close()

    return asyncio.run(run())
