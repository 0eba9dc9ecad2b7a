"""`vime train`: resolve the configuration, and show it with --dry-run."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vime.config.packages import schema
from vime.config.problems import ConfigError, Problem
from vime.config.resolve import Config, resolve
from vime.config.rules import RULES, files
from vime.config.rules.check import Rule
from vime.config.show import as_json, as_text
from vime.errors import says_what_is_wrong
from vime.rollout import hooks

INSTALL = "in a clone: make env-train && . .venv/bin/activate; on GPUs install vLLM, and vime[train] beside it"
_SWITCHES = ("--dry-run", "--json", "--all")


@dataclass(frozen=True)
class Words:
    """The command's own words, and the rest, which are options."""

    files: tuple[Path, ...]
    switches: frozenset[str]
    options: tuple[str, ...]
    problems: tuple[Problem, ...]


def run(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 where the configuration is wrong or what it asks for is not there."""
    words = split(argv)
    dry = "--dry-run" in words.switches
    try:
        config = resolve(words.options, words.files, schema(), "--all" in words.switches, rules_of_a_run(dry))
    except ConfigError as error:
        return report([*words.problems, *error.problems])
    if words.problems:
        return report(words.problems)
    for warning in config.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if not dry:
        return _train(config)
    print(as_json(config) if "--json" in words.switches else as_text(config), end="", flush=True)
    return 0


def rules_of_a_run(dry: bool) -> tuple[Rule, ...]:
    """All that is checked before anything starts. What is read need not be there yet where nothing will be started."""
    return (*RULES, *hooks.RULES, *(() if dry else (files.data_is_there,)))


def _train(config: Config) -> int:
    """Run it; the exit status."""
    from vime.observability.progress import TerminalProgress

    with TerminalProgress() as progress:
        progress.starting("loading Ray and torch")  # seconds, on a busy machine many
        try:
            from vime.train.main import train
        except ModuleNotFoundError as missing:
            return report([Problem("vime train", f"{missing.name} is not installed", INSTALL)])
        try:
            return train(config, progress)
        except ConfigError as error:
            return report(error.problems)
        except Exception as error:
            if not says_what_is_wrong(error):
                raise
            progress.say(f"error: {error}")
            return 1


def split(argv: Sequence[str]) -> Words:
    """Takes `--config FILE` and the switches out of the words."""
    files: list[Path] = []
    options: list[str] = []
    problems: list[Problem] = []
    words = iter(argv)
    for word in words:
        if word == "--config" or word.startswith("--config="):
            value = word.partition("=")[2] or next(words, "")
            if not value or value.startswith("--"):
                problems.append(Problem("--config", "the file is missing", "write --config FILE.yaml"))
                options += [value] if value else []
            else:
                files.append(Path(value))
        elif word not in _SWITCHES:
            options.append(word)
    return Words(tuple(files), frozenset(_SWITCHES).intersection(argv), tuple(options), tuple(problems))


def report(problems: Sequence[Problem]) -> int:
    """Tell what is wrong, a line each; the exit status."""
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 2
