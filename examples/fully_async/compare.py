"""The quick start's run in turn, one rollout ahead, and fully asynchronous: the seconds of each, and the gain that is possible.

    python examples/fully_async/compare.py --rollouts 60 --rounds 2

Seconds are those of the steps, evaluations and the start left out; of several rounds, which take turns, the fewest count. In
turn a step takes tR + tT + tW: generation, training, bringing the weights over. Beside each other it cannot take less than
max(tR, tT) + tW, so that (tR + tT + tW) / (max(tR, tT) + tW) bounds the gain, with the parts as they were measured in turn.
What else the other two save (fewer waits for the slowest sample) is bounded by nothing here.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1]
ROOT = EXAMPLES.parent
WAYS: Mapping[str, tuple[str, ...]] = {
    "in turn": (),
    "one ahead": ("--train-async", "--use-tis"),
    "fully async": ("--config", str(EXAMPLES / "fully_async/config.yaml")),
}
_PARTS = ("perf/rollout_time", "perf/train_time", "perf/update_weights_time")


@dataclass(frozen=True)
class Result:
    """A run: seconds of all steps, what its parts took in the mean of the steps, and what it learned."""

    seconds: float
    parts: tuple[float, float, float]
    first_reward: float
    last_reward: float
    accuracy: float

    @property
    def bound(self) -> float:
        """The gain that this run leaves to one that does two of its parts at once."""
        generate, train, sync = self.parts
        return (generate + train + sync) / (max(generate, train) + sync)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 1 where a run fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollouts", type=int, default=60, help="steps of each run")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each way")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    asked, words = parser.parse_known_args(argv)
    found: dict[str, list[Result]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="async-gain-") as folder:
        for number in range(asked.rounds):
            for way, own in WAYS.items():
                place = Path(folder) / f"{way.replace(' ', '-')}-{number}"
                found[way].append(measured(place, asked.rollouts, [*own, *words]))
    best = {way: min(results, key=lambda result: result.seconds) for way, results in found.items()}
    print(json.dumps(as_json(best), indent=2) if asked.json else in_words(best, asked.rollouts))
    return 0


def measured(folder: Path, rollouts: int, words: Sequence[str]) -> Result:
    """Run it, in `folder`. Further `words` are options of vime train. Raises SystemExit where it fails."""
    command = [sys.executable, "-m", "vime.cli", "train", "--config", str(EXAMPLES / "quickstart_cpu/config.yaml")]
    command += ["--num-rollout", str(rollouts), "--lr-warmup-iters", "2", "--run-dir", str(folder), *words]
    own = {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr[-3000:]}")
    return result((folder / "metrics.jsonl").read_text("utf-8"))


def result(log: str) -> Result:
    """What a run's log says of it."""
    rows = [json.loads(line) for line in log.splitlines()]
    steps = [row["metrics"] for row in rows if row.get("step_key") == "rollout/step"]
    rewards = [step["rollout/raw_reward"] for step in steps]
    evaluations = [row["metrics"]["eval/rev3"] for row in rows if row.get("step_key") == "eval/step"]
    few = max(1, len(steps) // 10)
    generate, train, sync = (sum(step[part] for step in steps) / len(steps) for part in _PARTS)
    return Result(
        seconds=sum(step["perf/step_time"] for step in steps),
        parts=(generate, train, sync),
        first_reward=sum(rewards[:few]) / few,
        last_reward=sum(rewards[-few:]) / few,
        accuracy=evaluations[-1],
    )


def in_words(best: Mapping[str, Result], rollouts: int) -> str:
    """A table."""
    turn = best["in turn"]
    lines = [f"{rollouts} steps      seconds   gain   reward, first and last tenth   accuracy after"]
    for way, one in best.items():
        gain = turn.seconds / one.seconds
        reward = f"{one.first_reward:.2f} {one.last_reward:.2f}"
        lines.append(f"{way:12} {one.seconds:10.1f} {gain:6.2f}   {reward:>28}   {one.accuracy:14.3f}")
    generate, train, sync = turn.parts
    lines.append(
        f"a step in turn: generation {generate:.3f} s, training {train:.3f} s, weights {sync:.3f} s; two at once gain at "
        f"most {turn.bound:.2f}"
    )
    return "\n".join(lines)


def as_json(best: Mapping[str, Result]) -> dict[str, dict[str, object]]:
    """The figures, by way."""
    turn = best["in turn"]
    return {
        way: vars(one) | {"gain": turn.seconds / one.seconds} | ({"bound": one.bound} if one is turn else {})
        for way, one in best.items()
    }


if __name__ == "__main__":
    raise SystemExit(main())
