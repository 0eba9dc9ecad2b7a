"""`make bench`: every benchmark that this machine has the material for.

SYNC_UPSTREAM names a clone of slime, SYNC_FORK one of a fork of it on the same engine, SYNC_PAIRS a file of commit pairs,
SYNC_PORTED a repository in which a window was ported (as `sync replay` leaves one). Peers that are not installed (PyPI's
ast-grep-cli, Debian's wiggle) print null.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
# Each benchmark, and the variables that name what it needs, by option.
NEEDS: dict[str, dict[str, str]] = {
    "sandbox": {},
    "start_up": {},
    "rollout_client": {},
    "streaming_cost": {},
    "rollout_engine": {},
    "trainer_step": {},
    "weight_sync": {},
    "kill_and_resume": {},
    "ci_history": {"--upstream": "SYNC_UPSTREAM"},
    "port_speed": {"--upstream": "SYNC_UPSTREAM"},
    "translate_speed": {"--upstream": "SYNC_UPSTREAM"},
    "overlay_replay": {"--upstream": "SYNC_UPSTREAM"},
    "merge_fidelity": {"--upstream": "SYNC_UPSTREAM", "--fork": "SYNC_FORK", "--pairs": "SYNC_PAIRS"},
    "window_share": {"--repo": "SYNC_PORTED"},
}

PACKAGES = {"rollout_engine": "vllm", "trainer_step": "megatron.core", "weight_sync": "vllm", "kill_and_resume": "vllm"}
"""What a benchmark runs, which `make env-train` installs."""


def installed(package: str) -> bool:
    """Whether a package is there to be imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def arguments(needs: Mapping[str, str], environment: Mapping[str, str]) -> list[str] | None:
    """A benchmark's arguments, None where something that it needs is not named."""
    if not all(environment.get(name) for name in needs.values()):
        return None
    return [word for option, name in needs.items() for word in (option, environment[name])]


def main(argv: Sequence[str] | None = None) -> int:
    """Run them all; the worst exit status."""
    argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(argv)
    worst = 0
    for name, needs in NEEDS.items():
        print(f"== {name}", flush=True)
        words = arguments(needs, os.environ)
        if words is None:
            print("not run: needs " + ", ".join(needs.values()))
            continue
        if (package := PACKAGES.get(name)) and not installed(package):
            print(f"not run: needs {package}")
            continue
        command = [sys.executable, str(HERE / f"{name}.py"), *words]
        worst = max(worst, subprocess.run(command, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
