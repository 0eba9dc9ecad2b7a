"""`make bench`: every benchmark that this machine has the material for.

SYNC_UPSTREAM names a clone of slime, SYNC_FORK one of a fork of it on the same engine, SYNC_PAIRS a file of commit pairs.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
UPSTREAM, FORK, PAIRS = (os.environ.get(name) for name in ("SYNC_UPSTREAM", "SYNC_FORK", "SYNC_PAIRS"))


def runs() -> dict[str, list[str] | None]:
    """Each benchmark's arguments, None where something that it needs is not named."""
    return {
        "http_client": [],
        "ci_history": ["--upstream", UPSTREAM] if UPSTREAM else None,
        "port_speed": ["--upstream", UPSTREAM] if UPSTREAM else None,
        "overlay_replay": ["--upstream", UPSTREAM] if UPSTREAM else None,
        "merge_fidelity": ["--upstream", UPSTREAM, "--fork", FORK, "--pairs", PAIRS]
        if UPSTREAM and FORK and PAIRS
        else None,
    }


def main() -> int:
    worst = 0
    for name, arguments in runs().items():
        print(f"== {name}", flush=True)
        if arguments is None:
            print("not run: needs SYNC_UPSTREAM" + (", SYNC_FORK and SYNC_PAIRS" if name == "merge_fidelity" else ""))
            continue
        worst = max(
            worst, subprocess.run([sys.executable, str(HERE / f"{name}.py"), *arguments], check=False).returncode
        )
    return worst


if __name__ == "__main__":
    sys.exit(main())
