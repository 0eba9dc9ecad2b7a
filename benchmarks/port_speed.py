"""A whole `sync port` process on the real upstream, beside what it cannot do without and beside its limit.

    python benchmarks/port_speed.py --upstream SLIME [--runs 5] [--json]

For each pull request: `seconds` (median), `of_limit` (of the 2 s that a port may take), `of_libcst` (of a process that
only parses and prints, with LibCST, the Python files that the change touches, before and after).
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree
from sync_tools.upstream.collect import collect
from sync_tools.upstream.resolve import landing

NUMBERS, LIMIT = (1921, 1920, 1861), 2.0
PARSE = "import sys, libcst\nfor p in sys.argv[1:]: libcst.parse_module(open(p, 'rb').read()).bytes"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--upstream", required=True, help="a clone of slime, bare or not")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    found = {
        str(number): measure(Repo.open(Path(args.upstream)), args.upstream, number, args.runs) for number in NUMBERS
    }
    if args.json:
        print(json.dumps(found))
    for number, figures in () if args.json else found.items():
        print(number, " ".join(f"{name} {value}" for name, value in figures.items()))
    return 0


def measure(upstream: Repo, place: str, number: int, runs: int) -> dict[str, float]:
    changes = collect(upstream, landing(upstream, number))
    with tempfile.TemporaryDirectory() as scratch:
        fork, files = Path(scratch) / "fork", []
        import_tree(upstream, changes.parent, fork, Config())
        for n, image in enumerate(
            i for f in changes.files for i in (f.before, f.after) if i and i.path.endswith(".py")
        ):
            files.append(str(Path(scratch) / f"{n}.py"))
            Path(files[-1]).write_bytes(image.data)
        port = [
            sys.executable,
            "-m",
            "sync_tools",
            "port",
            str(number),
            "--dry-run",
            "--repo",
            str(fork),
            "--upstream",
            place,
        ]
        peer = [sys.executable, "-c", PARSE, *files]
        times = [(timed(port), timed(peer)) for _ in range(runs)]
    seconds, libcst = (statistics.median(side) for side in zip(*times, strict=True))
    return {
        "seconds": round(seconds, 2),
        "of_limit": round(seconds / LIMIT, 2),
        "of_libcst": round(seconds / libcst, 1),
    }


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, cwd=Path(__file__).resolve().parents[1], check=False)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
