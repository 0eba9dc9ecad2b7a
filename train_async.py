"""`python train_async.py ...`, as upstream's scripts begin an asynchronous run: `vime train --train-async` under another name."""

import sys

from vime.cli import main

if __name__ == "__main__":
    raise SystemExit(main(["train", "--train-async", *sys.argv[1:]]))
