"""ReTool's tools: their settings, how many run at a time, what they say, and the sandbox that they run in."""

import asyncio
import gc
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":  # pytest knows where the modules below are
    raise SystemExit(pytest.main([__file__, *sys.argv[1:]]))

from retool_world import ANSWER, CALL, arguments, converse, executed, use, use_real
from tool_sandbox import ToolRegistry, tool_registry
from tool_settings import settings_of

from vime.errors import RunError
from vime.sandbox import Result


@pytest.fixture(autouse=True)
def sandbox(monkeypatch):
    return use(monkeypatch)


@pytest.fixture
def real(monkeypatch, sandbox):
    use_real(monkeypatch)


def test_settings_come_from_args_before_the_environment():
    args = arguments(retool_max_turns=3)
    found = settings_of(
        args, {"RETOOL_MAX_TURNS": "5", "RETOOL_PYTHON_MEMORY_LIMIT": "2GB", "RETOOL_PYTHON_TIMEOUT": "1.5"}
    )
    assert (found.max_turns, found.python_memory_limit, found.python_timeout) == (3, 2 << 30, 1.5)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_turn", 1, "retool_max_turns"),
        ("max_turns", 0, "above 0"),
        ("python_timeout", "inf", "finite"),
        ("max_turns", "many", "whole number"),
        ("sandbox", "none", "namespaces, rlimits"),
        ("observation", "x", "{result}"),
    ],
)
def test_a_setting_that_is_none_is_refused(name, value, said):
    with pytest.raises(RunError, match=said):
        settings_of(arguments(**{f"retool_{name}": value}), {})


@pytest.mark.parametrize("places", [1, 3])
def test_no_more_calls_run_than_there_are_permits(places, sandbox):
    sandbox.hold = 0.01

    async def calls():
        tools = ToolRegistry(arguments(retool_tool_concurrency=places))
        code = {"code": "x"}
        return await asyncio.wait_for(
            asyncio.gather(*(tools.execute_tool("code_interpreter", code) for _ in range(12))), 5
        )

    assert len(asyncio.run(calls())) == 12
    assert (sandbox.most, sandbox.places) == (places, places)


def test_other_tools_share_the_permits(sandbox):
    running = most = 0

    async def slow(arguments):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "done"

    async def calls():
        tools = ToolRegistry(arguments(retool_tool_concurrency=2))
        tools.register_tool("slow", {}, slow)
        return await asyncio.gather(*(tools.execute_tool("slow", {}) for _ in range(6)))

    assert asyncio.run(calls()) == ["done"] * 6 and most == 2


def test_the_sandbox_gets_its_limits_from_the_settings(sandbox):
    converse([ANSWER], retool_python_timeout=3.0, retool_python_memory_limit="64MB", retool_sandbox="rlimits")
    assert sandbox.mode == "rlimits"
    assert (sandbox.limits.wall, sandbox.limits.cpu, sandbox.limits.memory) == (3.0, 3, 64 << 20)


def test_each_event_loop_has_its_own_permits():
    args = arguments(retool_tool_concurrency=1)

    async def calls():
        tools = tool_registry(args)
        return await asyncio.gather(*(tools.execute_tool("code_interpreter", {"code": "x"}) for _ in range(3)))

    assert asyncio.run(calls()) == asyncio.run(calls()) == ["1"] * 3


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (Result("6\n", "", 0, "exit", 0.0), "6"),
        (Result("6\n", "warned\n", 0, "exit", 0.0), "6\n\nErrors:\nwarned"),
        (Result("", "", 0, "exit", 0.0), ""),
        (Result("6\n", "Traceback\n", 1, "exit", 0.0), "Error: it ended with exit code 1\n6\nTraceback"),
        (Result("", "", None, "wall", 0.0), "Error: it took longer than 120 seconds"),
        (Result("", "", None, "memory", 0.0), f"Error: it took more than {4 << 30} bytes of memory"),
    ],
)
def test_what_a_tool_says(result, told, sandbox):
    sandbox.outputs = [result]
    sample, _ = converse([CALL, ANSWER])
    assert sample.response == f"{CALL}[{told}]{ANSWER}"


def test_weak_protection_is_only_by_name_and_is_warned_of(real, caplog):
    assert executed("print(1)", retool_sandbox="rlimits") == ["1"]
    assert "host's files: OFF" in caplog.text and caplog.records[-1].levelname == "WARNING"


def open_descriptors():
    gc.collect()
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_thousand_calls_leak_no_descriptor(real):
    async def calls():
        tools = ToolRegistry(arguments(retool_tool_concurrency=2))

        async def some(count):
            work = (tools.execute_tool("code_interpreter", {"code": "print(1)"}) for _ in range(count))
            assert set(await asyncio.gather(*work)) == {"1"}

        try:
            await some(20)
            before = open_descriptors()
            await some(1000)
            return open_descriptors() - before
        finally:
            tools.close()

    assert asyncio.run(calls()) <= 0
