import asyncio
import sys

TOOL_CONFIGS = {"max_turns": 8, "max_tool_calls": 6, "timeout": 20, "concurrency": 32}
SEMAPHORE = asyncio.Semaphore(TOOL_CONFIGS["concurrency"])

TOOL_SPECS = [
    {
        "name": "code_interpreter",
        "description": "Runs a piece of Python and gives back what it prints.",
        "parameters": {"code": "string"},
    }
]


async def run_code(code: str) -> str:
    """What the code prints, or what went wrong, cut to a length that leaves room for an answer."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), TOOL_CONFIGS["timeout"])
    except asyncio.TimeoutError:
        process.kill()
        return f"no result within {TOOL_CONFIGS['timeout']} s"
    return output.decode("utf-8", "replace")[-2000:]
