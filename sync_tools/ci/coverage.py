"""Which test files a workflow runs: by rows that name a file, a folder or a glob, and by commands that do."""

import re
import shlex
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from sync_tools.ci.matrix import TEST_FILE
from sync_tools.ci.workflow import WorkflowJob

_SEPARATOR = re.compile(r"\\\n|(\n|&&|\|\||[;|])")
_RUNNERS = ("-m", "run", "exec", "time", "env", "sudo", "--")
_LEAVES_OUT = ("--ignore", "--ignore-glob", "--deselect")


def matched(name: str, paths: Collection[str], root: str) -> frozenset[str]:
    """The files that a name stands for, from the top of the tree or from the tests' root: itself, those of a folder,
    those of a glob; `file::test` stands for its file."""
    name = name.partition("::")[0].rstrip("/").removeprefix("./") or "."
    found: set[str] = set()
    for candidate in dict.fromkeys((name, f"{root}/{name}")):
        if any(c in candidate for c in "*?["):
            found |= {path for path in paths if glob_matches(candidate, path)}
        elif candidate in paths:
            found.add(candidate)
        else:
            folder = "" if candidate == "." else candidate + "/"
            found |= {path for path in paths if path.startswith(folder)}
    return frozenset(found)


def covered(jobs: Collection[WorkflowJob], tests: Collection[str], root: str) -> frozenset[str]:
    """The test files that the jobs run."""
    found: set[str] = set()
    rows = [row.get(TEST_FILE) for job in jobs for row in job.rows]
    for name in dict.fromkeys(name for value in rows for name in names(value)):
        found |= matched(name, tests, root)
    scripts = {script for job in jobs for script in job.commands}
    for words in {words for script in scripts for words in _commands(script)}:
        found |= _run_by(words, tests, root)
    return frozenset(found)


def names(value: object) -> list[str]:
    """The paths that a row's `test_file` names."""
    return _words(value) if isinstance(value, str) else []


def _run_by(words: Sequence[str], tests: Collection[str], root: str) -> frozenset[str]:
    programs = [word.rstrip("/").rpartition("/")[2] for word in words]
    at = next((i for i, program in enumerate(programs) if program in ("pytest", "py.test")), None)
    if at is not None:
        return _collected(words[at + 1 :], tests, root) if _is_command(words[:at]) else frozenset()
    if any(re.fullmatch(r"python[\d.]*", program) for program in programs):
        return frozenset(t for word in words if word.endswith(".py") for t in matched(word, tests, root))
    return frozenset()


def _is_command(before: Sequence[str]) -> bool:
    """Whether what follows these words is a program that runs, not a package to install or a word to print."""
    last = before[-1] if before else ""
    return not last or last in _RUNNERS or "=" in last or last.isdigit()


def _collected(arguments: Sequence[str], tests: Collection[str], root: str) -> frozenset[str]:
    """What pytest collects: the paths given, all tests where none is, less those left out."""
    given: set[str] = set()
    without: set[str] = set()
    named, option = False, ""
    for word in arguments:
        flag, equals, value = word.partition("=")
        if word.startswith("-"):
            option = "" if equals else flag
            without |= matched(value, tests, root) if equals and flag in _LEAVES_OUT and "::" not in value else set()
            continue
        files = matched(word, tests, root) if "::" not in word or option not in _LEAVES_OUT else frozenset()
        if option in _LEAVES_OUT:
            without |= files
        elif files or "/" in word:
            given, named = given | files, True
        option = ""
    return frozenset((given if named else matched(root, tests, root)) - without)


@lru_cache(maxsize=4096)  # a workflow has the same few lines in each of its jobs
def _commands(script: str) -> tuple[tuple[str, ...], ...]:
    """The simple commands of a shell script, as words."""
    joined = _SEPARATOR.sub(lambda m: "\n" if m[1] else " ", script)
    return tuple(words for line in dict.fromkeys(joined.splitlines()) if (words := tuple(_words(line))))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def glob_matches(pattern: str, path: str) -> bool:
    """`*`, `?` and `[...]` within a folder, `**` across folders; in time that no pattern can blow up."""
    folders = pattern.split("/")
    parts = [part for at, part in enumerate(folders) if part != "**" or folders[at - 1 : at] != ["**"]]
    states = _across({0}, parts)
    for folder in path.split("/"):
        stay = {at for at in states if at < len(parts) and parts[at] == "**"}
        step = {at + 1 for at in states - stay if at < len(parts) and fnmatchcase(folder, parts[at])}
        states = _across(stay | step, parts)
    return len(parts) in states


def _across(states: set[int], parts: list[str]) -> set[int]:
    """With the states behind a `**`, which may stand for no folder at all."""
    return states | {at + 1 for at in states if at < len(parts) and parts[at] == "**"}
