"""The command of a demonstration on a CPU: seed after seed, what each came to, and whether all of them learned."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Outcome(Protocol):
    """What one seed came to."""

    @property
    def learned(self) -> bool: ...

    @property
    def words(self) -> str:
        """In a few lines."""
        ...


@dataclass(frozen=True)
class Demo:
    """`one` is called with a seed, the folder of the runs, and further options of the training that is measured."""

    description: str
    one: Callable[[int, Path, list[str]], Outcome]
    meaning: str
    """What it shows, and what not."""


def main(demo: Demo, argv: list[str] | None = None) -> int:
    """The exit status: 0 where every seed learned, 1 where one did not."""
    parser = argparse.ArgumentParser(description=demo.description)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of data, weights and training")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the folder of the runs' logs and reports")
    parser.add_argument("options", nargs="*", help="further options of vime train, after --")
    asked = parser.parse_args(argv)
    outcomes = [demo.one(seed, asked.runs, asked.options) for seed in asked.seeds]
    print("\n".join(outcome.words for outcome in outcomes))
    print(demo.meaning)
    return 0 if all(outcome.learned for outcome in outcomes) else 1


def folder_of(example: Path, seed: int) -> Path:
    """Where an example's data and model of a seed are."""
    return example / "out" if seed == 0 else example / f"out-seed{seed}"


def named(kind: str, seed: int) -> str:
    """A name for a run that begins now."""
    return f"{kind}-seed{seed}-{time.strftime('%Y%m%d-%H%M%S')}"


def seeds_of(seed: int) -> list[object]:
    """The options of vime train that differ by seed."""
    return ["--seed", 1234 + seed, "--rollout-seed", 42 + seed]


def timed(*words: object, modules: Path | None = None) -> float:
    """Run a Python program, which shows its own progress and may import from `modules`; the seconds that it took. Its
    failure ends this one."""
    path = [str(modules.resolve())] if modules else []
    own = {"PYTHONPATH": os.pathsep.join([*path, *filter(None, [os.environ.get("PYTHONPATH")])])}
    began = time.monotonic()
    done = subprocess.run([sys.executable, *map(str, words)], env=os.environ | own)
    if done.returncode:
        raise SystemExit(done.returncode)
    return time.monotonic() - began
