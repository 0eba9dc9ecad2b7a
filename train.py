"""`python train.py ...`, as upstream's scripts begin a run: `vime train` under another name."""

import sys

from vime.cli import main

if __name__ == "__main__":
    raise SystemExit(main(["train", *sys.argv[1:]]))
