"""`vime train`: resolve the configuration, and show it with --dry-run."""

import sys
from collections.abc import Sequence
from pathlib import Path

from vime.config.packages import schema
from vime.config.problems import ConfigError, Problem
from vime.config.resolve import resolve
from vime.config.show import as_json, as_text


def run(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 where the configuration is wrong or what it asks for is not there."""
    files, dry_run, json, rest, problems = _own_words(argv)
    try:
        config = resolve(rest, files, schema())
    except ConfigError as error:
        return _report([*problems, *error.problems])
    if problems:
        return _report(problems)
    for warning in config.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if not dry_run:
        return _report(
            [
                Problem(
                    "vime train", "the training loop is not in this version", "add --dry-run to see the configuration"
                )
            ]
        )
    print(as_json(config) if json else as_text(config), end="\n" if json else "")
    return 0


def _own_words(argv: Sequence[str]) -> tuple[list[Path], bool, bool, list[str], list[Problem]]:
    """(files, --dry-run, --json, the options' words, problems): what belongs to the command and is no option."""
    files: list[Path] = []
    rest: list[str] = []
    problems: list[Problem] = []
    words = iter(argv)
    for word in words:
        if word == "--config" or word.startswith("--config="):
            value = word.partition("=")[2] or next(words, "")
            if not value or value.startswith("--"):
                problems.append(Problem("--config", "the file is missing", "write --config FILE.yaml"))
                rest += [value] if value else []
            else:
                files.append(Path(value))
        elif word not in ("--dry-run", "--json"):
            rest.append(word)
    return files, "--dry-run" in argv, "--json" in argv, rest, problems


def _report(problems: Sequence[Problem]) -> int:
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 2
