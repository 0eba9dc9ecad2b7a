"""Calls a second and latency of the sandbox, beside a bare `python -c`, and of the call that follows an attack. JSON.

CPU seconds are of all processes together, and say on a busy machine what the calls a second would be on a quiet one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from vime.sandbox import Limits, Sandbox, SandboxRefused

CODE = "print(sum(i * i for i in range(100)))"
EXPECTED = "328350\n"
ATTACKS = {
    "fork bomb": "import os\nwhile 1:\n    try: os.fork()\n    except OSError: pass",
    "memory bomb": "x = []\nwhile 1: x.append(bytearray(1 << 20))",
    "endless output": "while 1: print('x' * 1000)",
    "background child": "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(60)",
    "full disk": "for n in range(100): open(f'f{n}', 'wb').write(bytes(1 << 20))",
}


def measure(call: Callable[[], str], calls: int, threads: int) -> dict[str, float]:
    """Calls a second, and milliseconds of a call as quantiles."""
    seconds: list[float] = []
    left = iter(range(calls))

    def work() -> None:
        for _ in left:
            began = time.perf_counter()
            if call() != EXPECTED:
                raise RuntimeError("a call went wrong")
            seconds.append(time.perf_counter() - began)

    began, cpu = time.perf_counter(), cpu_seconds()
    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    wall = time.perf_counter() - began
    ordered = sorted(seconds)
    quantiles = {f"p{q}_ms": round(1000 * ordered[len(ordered) * q // 100], 2) for q in (50, 95, 99)}
    return {"calls": calls, "calls_per_second": round(calls / wall, 1), **quantiles, "cpu_seconds": cpu_seconds() - cpu}


def cpu_seconds() -> float:
    """Of this process, and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def bare() -> str:
    return subprocess.run([sys.executable, "-I", "-S", "-c", CODE], capture_output=True, text=True).stdout


def sandboxed(mode: str, calls: int, places: int) -> dict[str, float]:
    before = cpu_seconds()
    began = time.perf_counter()
    with Sandbox(mode, places=places) as sandbox:
        start = time.perf_counter() - began
        for _ in range(2 * places):
            sandbox.run(CODE)
        found = measure(lambda: sandbox.run(CODE).stdout, calls, places)
    found["cpu_seconds"] = cpu_seconds() - before  # its processes count once they have ended
    return found | {"start_seconds": round(start, 3)}


def after_attacks(mode: str) -> dict[str, float]:
    """Milliseconds of the first call after each attack."""
    limits = Limits(wall=1, cpu=1, memory=128 << 20, disk=16 << 20)
    with Sandbox(mode, places=1, limits=limits) as sandbox:
        found = {}
        for name, code in ATTACKS.items():
            sandbox.run(code)
            began = time.perf_counter()
            if sandbox.run(CODE).stdout != EXPECTED:
                raise RuntimeError(f"the call after {name} went wrong")
            found[name] = round(1000 * (time.perf_counter() - began), 2)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    calls = parser.parse_args().calls
    cores = os.cpu_count() or 1
    found: dict[str, object] = {"cores": cores, "load_before": os.getloadavg()[0]}
    for places in sorted({1, cores}):
        plain = measure(bare, calls // 4, places)
        row = {"bare subprocess": plain}
        for mode in ("namespaces", "rlimits"):
            try:
                row[mode] = sandboxed(mode, calls, places)
            except SandboxRefused as refused:
                row[mode] = {"refused": str(refused)}
                continue
            row[mode]["latency_over_bare"] = round(row[mode]["p50_ms"] / plain["p50_ms"], 2)
        for each in row.values():
            if "calls" in each:
                each["cpu_ms_per_call"] = round(1000 * each.pop("cpu_seconds") / each["calls"], 2)
        found[f"{places} at a time"] = row
    try:
        found["ms_of_the_call_after"] = after_attacks("namespaces")
    except SandboxRefused as refused:
        found["ms_of_the_call_after"] = str(refused)
    print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
