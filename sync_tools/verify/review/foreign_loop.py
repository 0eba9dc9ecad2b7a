"""RV103: an asyncio primitive is made in a constructor and used in another thread's loop.

A lock, queue or semaphore belongs to the loop that first waits on it; a second loop gets an error, or is never woken.
"""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import Source

CODE = "RV103"
PRIMITIVES = frozenset(
    {"Lock", "Semaphore", "BoundedSemaphore", "Event", "Condition", "Queue", "PriorityQueue", "LifoQueue"}
)
OTHER_LOOP = frozenset({"Thread", "new_event_loop", "run_coroutine_threadsafe", "run_in_executor", "to_thread"})


def foreign_loop(source: Source) -> Iterator[Finding]:
    if "asyncio" not in source.words or not (source.words & OTHER_LOOP):
        return
    for owner in source.nodes(ast.ClassDef):
        calls = [n for n in ast.walk(owner) if isinstance(n, ast.Call)]
        if not any(_name(c) in {"Thread", "new_event_loop"} for c in calls):
            continue
        init = next((f for f in owner.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
        for call in (n for n in ast.walk(init) if isinstance(n, ast.Call)) if init else ():
            if _name(call) in PRIMITIVES and getattr(getattr(call.func, "value", None), "id", "") == "asyncio":
                message = f"asyncio.{_name(call)} is made in the constructor, and `{owner.name}` runs a loop in another thread"
                yield Finding(source.path, call.lineno, CODE, message, "make it inside the loop that uses it")


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
