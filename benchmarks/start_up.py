"""How long commands take before they do anything: seconds of wall time, the median and the least of several starts.

Prints one JSON object: {name: {"median": s, "least": s}}, with `python`, an interpreter that does nothing, to compare with. `--runs N`
starts each N times, in turn, so that a busy moment of the machine meets them all.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFIG = "examples/quickstart_cpu/config.yaml"
COMMANDS = {
    "python": ["-c", "pass"],
    "import vime": ["-c", "import vime"],
    "import vime.rollout.vllm_rollout": ["-c", "import vime.rollout.vllm_rollout"],
    "vime --help": ["-m", "vime.cli", "--help"],
    "vime --help rollout": ["-m", "vime.cli", "--help", "rollout"],
    "vime train --dry-run": ["-m", "vime.cli", "train", "--config", CONFIG, "--dry-run"],
}


def seconds(words: Sequence[str]) -> float:
    """One start. The dry run may end with 2: what its files name may not be there, and is looked for all the same."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, check=False)
    took = time.perf_counter() - began
    if done.returncode not in (0, 2):
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.decode(errors='replace')}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    found: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, words in COMMANDS.items():
            found[name].append(seconds(words))
    shown = {
        name: {"median": round(statistics.median(times), 3), "least": round(min(times), 3)}
        for name, times in found.items()
    }
    print(json.dumps(shown, indent=2))


if __name__ == "__main__":
    main()
