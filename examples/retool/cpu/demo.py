"""Both stages and the report, for one seed or several; `make demo-retool` runs it.

    python examples/retool/cpu/demo.py --seeds 0 1 2

Data and model of random weights, supervised training, reinforcement learning, page: each step is a command of its own.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vime.observability.run_read import read_run

HERE = Path(__file__).parent
GAIN = 0.4
"""By how much the accuracy on problems held out has to rise."""
SHOWN = 10
"""Rollouts at either end that reward and tool calls are averaged over."""


@dataclass(frozen=True)
class Outcome:
    """What one seed came to: accuracy at each evaluation, by step, and of rollouts the first and last figures."""

    seed: int
    accuracy: dict[int, float]
    reward: tuple[float, float]
    tool_calls: tuple[float, float]
    seconds: tuple[float, float]
    folder: Path

    @property
    def learned(self) -> bool:
        steps = sorted(self.accuracy)
        return self.accuracy[steps[-1]] >= self.accuracy[steps[0]] + GAIN


def main(argv: list[str] | None = None) -> int:
    """The exit status: 0 where every seed learned, 1 where one did not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of data, weights and training")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the folder of the runs' logs and reports")
    parser.add_argument("options", nargs="*", help="further options of the second stage, after --")
    asked = parser.parse_args(argv)
    outcomes = [one(seed, asked.runs, asked.options) for seed in asked.seeds]
    print("\n".join(map(told, outcomes)))
    print(MEANING)
    return 0 if all(outcome.learned for outcome in outcomes) else 1


MEANING = """
What this shows: multi-turn rollouts with tool calls train. The model calls the interpreter in a third of its answers at first; it
learns from the reward alone to do so always, and to copy numbers in and out with fewer slips, on problems that it never saw.
What it does not show: that a model finds out by itself what a tool is for (the first stage showed it), that it can do arithmetic
(what it says at once is nearly always wrong), or anything about large models."""


def one(seed: int, runs: Path, options: list[str]) -> Outcome:
    """Prepare, train twice and report one seed."""
    data = HERE / "out" if seed == 0 else HERE / f"out-seed{seed}"
    name = f"retool-seed{seed}-{time.strftime('%Y%m%d-%H%M%S')}"
    call(HERE / "prepare.py", "--out", data, "--seed", seed)
    first = timed(
        "-m", "vime.cli", "train", "--config", HERE / "sft.yaml", *sft_flags(data, seed, runs / f"{name}-sft")
    )
    folder = runs / f"{name}-rl"
    second = timed("-m", "vime.cli", "train", "--config", HERE / "rl.yaml", *rl_flags(data, seed, folder), *options)
    call("-m", "vime.cli", "report", folder)
    return outcome(seed, folder, (first, second))


def sft_flags(data: Path, seed: int, folder: Path) -> list[object]:
    """What differs by seed in the first stage."""
    files = ("--hf-checkpoint", data / "fresh", "--prompt-data", data / "sft.jsonl", "--save-hf", data / "sft")
    return [*files, "--seed", 1234 + seed, "--rollout-seed", 42 + seed, "--run-dir", folder]


def rl_flags(data: Path, seed: int, folder: Path) -> list[object]:
    """What differs by seed in the second."""
    files = ("--hf-checkpoint", data / "sft", "--prompt-data", data / "train.jsonl")
    evaluated = ("--eval-prompt-data", "products", data / "heldout.jsonl")
    return [*files, *evaluated, "--seed", 1234 + seed, "--rollout-seed", 42 + seed, "--run-dir", folder]


def timed(*words: object) -> float:
    """As `call`; the seconds that it took."""
    began = time.monotonic()
    call(*words)
    return time.monotonic() - began


def call(*words: object) -> None:
    """A Python program, which shows its own progress and finds the example's modules; its failure ends this one."""
    path = os.pathsep.join([str(HERE.parent.resolve()), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, *map(str, words)], env=os.environ | {"PYTHONPATH": path})
    if done.returncode:
        raise SystemExit(done.returncode)


def outcome(seed: int, folder: Path, seconds: tuple[float, float]) -> Outcome:
    """What the run's log says."""
    series = read_run(folder).series
    found = series["eval/products"]
    reward, calls = (ends(series[name].values) for name in ("rollout/raw_reward", "rollout/tool_calls/mean"))
    return Outcome(seed, dict(zip(found.steps, found.values)), reward, calls, seconds, folder)


def ends(values: Sequence[float]) -> tuple[float, float]:
    """The means of the first and of the last few."""
    first, last = values[:SHOWN], values[-SHOWN:]
    return sum(first) / len(first), sum(last) / len(last)


def told(outcome: Outcome) -> str:
    """The outcome in three lines."""
    curve = ", ".join(f"{value:.3f} at {step}" for step, value in sorted(outcome.accuracy.items()))
    changed = [
        f"{name} {before:.2f} -> {after:.2f}"
        for name, (before, after) in (("reward", outcome.reward), ("tool calls a sample", outcome.tool_calls))
    ]
    return (
        f"seed {outcome.seed}: accuracy on held-out problems {curve}\n"
        f"  {', '.join(changed)} (means of {SHOWN} rollouts); {outcome.folder}/report.html\n"
        f"  supervised training took {outcome.seconds[0]:.0f} s, reinforcement learning {outcome.seconds[1]:.0f} s"
    )


if __name__ == "__main__":
    raise SystemExit(main())
