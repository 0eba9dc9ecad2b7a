"""The console script; `python -m sync_tools` is the same. By itself it imports next to nothing, so that an interruption
is one from the first moment on."""

import gc
import sys


def main() -> None:
    """`sync` with the arguments of this process; it ends with the exit code."""
    gc.set_threshold(100_000, 20, 20)  # syntax trees are many small objects, and none of them garbage for long
    try:
        from sync_tools import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
