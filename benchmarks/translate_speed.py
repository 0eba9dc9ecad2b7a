"""Translating upstream's tree, beside what one would take instead: how long it takes, what it leaves, and what it breaks.

    python benchmarks/translate_speed.py --upstream SLIME [--rev 624b824a8] [--runs 3] [--json]

Two parts: the Python files (everybody), and the whole tree (those that take any file). The runs are interleaved, each in a
process of its own without a cache, and a peer that took over a minute once is not run again. `seconds` is the median;
`of_libcst` and `of_sed` are ratios to LibCST's parsing and printing alone, and to sed.

- sync_1, sync_2: this project, over one and two processes
- libcst_parse_print: LibCST parses and prints, changing nothing
- libcst_rename: LibCST's stock RenameCommand, slime to vime
- ast_grep: identifiers by a rule, both names in their casings (PyPI's ast-grep-cli; null where it is not installed)
- sed: the plain renames
"""

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.translate_peers import PEERS, PROGRAMS, PYTHON_ONLY, available, read, timed
from benchmarks.translate_quality import Sites, quality, sites
from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import translated_tree
from sync_tools.modes import SYMLINK

NAMES = (*PEERS, *PROGRAMS)
Figures = dict[str, float] | None
SLOW = 60.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--upstream", required=True, type=Path, help="a clone of slime, bare or not")
    options.add_argument("--rev", default="624b824a8")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    files = sources(args.upstream, args.rev)
    python = {path: data for path, data in files.items() if path.endswith(".py")}
    result = {
        "python": measure(python, NAMES, args.runs),
        "tree": measure(files, tuple(n for n in NAMES if n not in PYTHON_ONLY), args.runs),
    }
    if args.json:
        print(json.dumps({"schema": 1, "rev": args.rev, "files": len(files), "python_files": len(python), **result}))
    else:
        for part, found in result.items():
            _table(part, found)
    return 0


def sources(upstream: Path, rev: str) -> dict[str, bytes]:
    """Upstream's files at a revision that an import would take, links left out."""
    tree = translated_tree(Repo.open(upstream), rev, Config())
    return {path: data for path, data in tree.sources.items() if tree.modes[path] != SYMLINK}


def measure(files: dict[str, bytes], names: tuple[str, ...], runs: int) -> dict[str, Figures]:
    """Each peer's figures, None for one that is not installed."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "upstream")
        for path, data in files.items():
            Path(source, path).parent.mkdir(parents=True, exist_ok=True)
            Path(source, path).write_bytes(data)
        here = [name for name in names if available(name)]
        times: dict[str, list[float]] = {name: [] for name in here}
        for _ in range(runs):
            for name in here:
                if not times[name] or times[name][0] < SLOW:
                    times[name].append(timed(name, source, Path(scratch, name)))
        reported = sites(files)
        seconds = {name: statistics.median(found) for name, found in times.items()}
        return {
            name: {"runs": len(times[name]), **_figures(name, seconds, files, Path(scratch, name), reported)}
            if name in here
            else None
            for name in names
        }


def _figures(
    name: str, seconds: dict[str, float], files: dict[str, bytes], made: Path, reported: Sites
) -> dict[str, float]:
    ratios = {
        f"of_{short}": round(seconds[name] / seconds[peer], 2)
        for short, peer in (("libcst", "libcst_parse_print"), ("sed", "sed"))
        if peer in seconds
    }
    return {"seconds": round(seconds[name], 2), **ratios, **asdict(quality(files, read(made), reported))}


def _table(part: str, found: dict[str, Figures]) -> None:
    columns = list(next(figures for figures in found.values() if figures))
    print(f"{part:<20}" + "".join(f"{column:>19}" for column in columns))
    for name, figures in found.items():
        row = "".join(f"{figures[column]:>19}" for column in columns) if figures else "  not installed"
        print(f"{name:<20}{row}")
    print()


if __name__ == "__main__":
    sys.exit(main())
