"""`python -m sync_tools.demo [--dir DIR] [--keep]`: the walk-through."""

import argparse
from pathlib import Path

from sync_tools.demo.walkthrough import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sync_tools.demo", description="Show what sync does, offline.")
    parser.add_argument("--dir", type=Path, help="build it here and leave it (default: a temporary folder)")
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder")
    options = parser.parse_args()
    return run(options.dir, options.keep)


if __name__ == "__main__":
    raise SystemExit(main())
