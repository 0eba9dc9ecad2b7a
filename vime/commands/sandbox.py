"""`vime sandbox check`: does the sandbox work here, and what does it protect from?"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict

from vime.sandbox import Sandbox, SandboxRefused
from vime.sandbox.records import MODES

USAGE = """vime sandbox check [--sandbox MODE] [--json]

Starts the sandbox for model-written Python, runs a few programs in it, and prints which protections are active.
Exit status 1: the system doesn't allow this mode.

  --sandbox MODE   namespaces (the default), or rlimits, which is weak: it hides no file
  --json           the same for machines
"""
_CALLS = 20


def run(argv: Sequence[str]) -> int:
    """The exit status: 0, 1 where the sandbox is refused, 2 where the words are wrong."""
    words = [word for word in argv if word != "--json"]
    mode = "namespaces"
    if len(words) == 3 and words[1] == "--sandbox":
        mode = words.pop()
        words.pop()
    if words != ["check"] or mode not in MODES:
        wrong = f"{' '.join(argv)}: these words make no sense" if argv else "say what to do"
        print(f"error: {wrong}\n\n{USAGE}", end="", file=sys.stderr)
        return 2
    try:
        found = check(mode)
    except SandboxRefused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return 1
    print(json.dumps(found, indent=2) if "--json" in argv else _text(found))
    return 0


def check(mode: str) -> dict[str, object]:
    """The mode, its protections, and seconds to start and for a call; SandboxRefused where it can't start."""
    began = time.perf_counter()
    with Sandbox(mode, places=1) as sandbox:
        started = time.perf_counter()
        for _ in range(_CALLS):
            sandbox.run("print(1)")
        ended = time.perf_counter()
        return {
            "mode": mode,
            "start_seconds": round(started - began, 3),
            "call_seconds": round((ended - started) / _CALLS, 4),
            "protections": [asdict(protection) for protection in sandbox.protections()],
        }


def _text(found: dict[str, object]) -> str:
    lines = [f"sandbox: {found['mode']}, ready in {found['start_seconds']} s, {found['call_seconds']} s a call"]
    for row in found["protections"]:
        lines.append(f"  {'yes' if row['active'] else 'NO ':3}  {row['name']:20}  {row['detail']}")
    return "\n".join(lines)
