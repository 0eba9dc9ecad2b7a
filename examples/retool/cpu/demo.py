"""Both stages and the report, for one seed or several; `make demo-retool` runs it.

    python examples/retool/cpu/demo.py --seeds 0 1 2

Data and model of random weights, supervised training, reinforcement learning, page: each step is a command of its own.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vime.observability.run_read import read_run

sys.path.insert(0, str(Path(__file__).parents[2]))

from demo_runs import Demo, folder_of, main, named, seeds_of, timed

HERE = Path(__file__).parent
GAIN = 0.4
"""By how much the accuracy on problems held out has to rise."""
SHOWN = 10
"""Rollouts at either end that reward and tool calls are averaged over."""
MEANING = """
What this shows: multi-turn rollouts with tool calls train. The model calls the interpreter in a third of its answers at first; it
learns from the reward alone to do so always, and to copy numbers in and out with fewer slips, on problems that it never saw.
What it does not show: that a model finds out by itself what a tool is for (the first stage showed it), that it can do arithmetic
(what it says at once is nearly always wrong), or anything about large models."""


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

    @property
    def words(self) -> str:
        curve = ", ".join(f"{value:.3f} at {step}" for step, value in sorted(self.accuracy.items()))
        changed = [
            f"{name} {before:.2f} -> {after:.2f}"
            for name, (before, after) in (("reward", self.reward), ("tool calls a sample", self.tool_calls))
        ]
        return (
            f"seed {self.seed}: accuracy on held-out problems {curve}\n"
            f"  {', '.join(changed)} (means of {SHOWN} rollouts); {self.folder}/report.html\n"
            f"  supervised training took {self.seconds[0]:.0f} s, reinforcement learning {self.seconds[1]:.0f} s"
        )


def one(seed: int, runs: Path, options: list[str]) -> Outcome:
    """Prepare, train twice and report one seed."""
    data, name = folder_of(HERE, seed), named("retool", seed)
    _call(HERE / "prepare.py", "--out", data, "--seed", seed)
    imitated = ["--hf-checkpoint", data / "fresh", "--prompt-data", data / "sft.jsonl", "--save-hf", data / "sft"]
    first = _train("sft.yaml", seed, runs / f"{name}-sft", *imitated)
    problems = ["--hf-checkpoint", data / "sft", "--prompt-data", data / "train.jsonl"]
    evaluated = ["--eval-prompt-data", "products", data / "heldout.jsonl"]
    folder = runs / f"{name}-rl"
    second = _train("rl.yaml", seed, folder, *problems, *evaluated, *options)
    _call("-m", "vime.cli", "report", folder)
    return outcome(seed, folder, (first, second))


def _train(config: str, seed: int, folder: Path, *words: object) -> float:
    return _call("-m", "vime.cli", "train", "--config", HERE / config, "--run-dir", folder, *seeds_of(seed), *words)


def _call(*words: object) -> float:
    """With the example's modules at hand."""
    return timed(*words, modules=HERE.parent)


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


if __name__ == "__main__":
    raise SystemExit(main(Demo(__doc__.splitlines()[0], one, MEANING)))
