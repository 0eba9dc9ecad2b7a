"""The `vime` command: arguments in, exit code out."""

import importlib
import os
import sys
from collections.abc import Sequence

_ABOUT = """\
usage: vime train [--config FILE.yaml] [--dry-run [--json] [--all]] [OPTION ...]
       vime report RUN [--out FILE] [--open]
       vime trace RUN [--out FILE]
       vime sandbox check [--sandbox MODE]
       vime --help [GROUP | OPTION | all]
       vime --version

Reinforcement-learning post-training of language models: vLLM generates, Megatron-core trains, Ray holds it together.
To bring changes of the upstream project over, use `sync` (`vime-sync` where another `sync` comes first on PATH).

train: a run, or with --dry-run its configuration
  --config FILE    options from a YAML file; flags win over it, and a later file over an earlier one
  --dry-run        show every value and where it comes from, and start nothing
  --json           the same for machines
  --all            with what vLLM and Megatron-core leave at their defaults

report: one HTML page about the run whose log is in the folder RUN
trace: the spans of its samples, for ui.perfetto.dev
  --out FILE       where to write; RUN/report.html and RUN/trace.json when left out
  --open           show it in the browser

sandbox check: does the sandbox for model-written Python work here, and what does it protect from?

example: vime train --config examples/quickstart_cpu/config.yaml --lr 5e-4 --run-dir runs/first

"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit status, which is 2 for wrong arguments."""
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `vime --help all | head`: who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(words: list[str]) -> int:
    if words and words[0] in ("report", "trace", "sandbox"):
        return _with_own_help(words[0], words[1:])
    asked = next((place for place, word in enumerate(words) if word in ("-h", "--help")), None)
    if asked is not None or not words:
        return _help(words[(asked or 0) + 1 :])
    if words == ["--version"]:
        print(f"vime {_version()}")
        return 0
    if words[0] == "train":
        from vime.commands.train import run

        return run(words[1:])
    print(
        f"error: {words[0]}: no such command; there are train, report, trace and sandbox (vime --help)", file=sys.stderr
    )
    return 2


def _with_own_help(command: str, words: list[str]) -> int:
    module = importlib.import_module(f"vime.commands.{command}")
    if {"-h", "--help"} & set(words):
        print(module.USAGE, end="")
        return 0
    return module.run(words)


def _help(asked: list[str]) -> int:
    from vime.config.helptext import about, index, topics
    from vime.config.packages import schema

    known = schema()
    if not asked:
        print(_ABOUT + index(known), end="")
        return 0
    try:
        print(about(asked[0], known), end="", flush=True)
    except KeyError:
        print(f"error: {asked[0]}: no such group or option; there are {', '.join(topics(known))}", file=sys.stderr)
        return 2
    return 0


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vime")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    raise SystemExit(main())
