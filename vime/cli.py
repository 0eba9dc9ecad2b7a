"""The `vime` command: arguments in, exit code out."""

import argparse
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

_DESCRIPTION = """\
Reinforcement-learning post-training of language models: vLLM generates, Megatron-core trains, Ray holds it together.

This version has the library that rollout functions are written against (vime.rollout, vime.utils, the vLLM seam). It
has no command that trains yet: there is nothing to run here but this help. To bring changes of the upstream project
over, use `sync` (`vime-sync` where another `sync` comes first on PATH).
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit status. Wrong arguments exit with 2."""
    parser = argparse.ArgumentParser("vime", description=_DESCRIPTION, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--version", action="version", version=f"vime {_version()}")
    parser.parse_args(argv)
    parser.print_help()
    return 0


def _version() -> str:
    try:
        return version("vime")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    raise SystemExit(main())
