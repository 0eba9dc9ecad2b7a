"""The quick start from the warm model to the report, for one seed or several; `make demo-train` runs it.

    python examples/quickstart_cpu/demo.py --seeds 0 1 2

Preparing (data, tokenizer, warm model) is done on the first run, and its time is told apart.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CONFIG = HERE / "config.yaml"
WRONG_AT_FIRST, RIGHT_IN_THE_END = 0.15, 0.95
SECONDS = 60.0
"""What the run of one seed may take on two quiet cores, the server's start included."""


@dataclass(frozen=True)
class Outcome:
    """What one seed came to: greedy accuracy on the prompts held out, and the run's seconds."""

    seed: int
    before: float
    after: float
    seconds: float
    folder: Path

    @property
    def learned(self) -> bool:
        return self.before <= WRONG_AT_FIRST and self.after >= RIGHT_IN_THE_END


def main(argv: list[str] | None = None) -> int:
    """The exit status: 0 where every seed learned, 1 where one did not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the warm model and of the training")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the folder of the runs' logs and reports")
    parser.add_argument("options", nargs="*", help="further options of vime train, after --")
    asked = parser.parse_args(argv)
    outcomes = [one(seed, asked.runs, asked.options) for seed in asked.seeds]
    print("\n".join(map(told, outcomes)))
    print(MEANING)
    return 0 if all(outcome.learned for outcome in outcomes) else 1


MEANING = """
What this shows: the whole loop (a vLLM server, Megatron-core over gloo, Ray) changes what the model answers. It prefers to copy
at first and reverses in the end, on prompts that neither the warm start nor the training has seen.
What it does not show: that a model learns something it never saw (the warm start had a quarter of right answers), nor anything
about large models, GPUs, or speed there."""


def one(seed: int, runs: Path, options: list[str]) -> Outcome:
    """Prepare, train and report one seed."""
    data = HERE / "out" if seed == 0 else HERE / f"out-seed{seed}"
    began = time.monotonic()
    call(HERE / "prepare.py", "--out", data, "--seed", seed)
    print(f"seed {seed}: prepared in {time.monotonic() - began:.1f} s (not counted)", flush=True)
    folder = runs / f"quickstart-seed{seed}-{time.strftime('%Y%m%d-%H%M%S')}"
    began = time.monotonic()
    call("-m", "vime.cli", "train", "--config", CONFIG, *flags(data, seed), "--run-dir", folder, *options)
    seconds = time.monotonic() - began
    call("-m", "vime.cli", "report", folder)
    before, after = scores(folder)
    return Outcome(seed, before, after, seconds, folder)


def flags(data: Path, seed: int) -> list[object]:
    """What differs by seed."""
    return [
        *("--hf-checkpoint", data / "warm", "--prompt-data", data / "train.jsonl"),
        *("--eval-prompt-data", "rev3", data / "heldout.jsonl", "--seed", 1234 + seed, "--rollout-seed", 42 + seed),
    ]


def call(*words: object) -> None:
    """A Python program, which shows its own progress; its failure ends this one."""
    done = subprocess.run([sys.executable, *map(str, words)])
    if done.returncode:
        raise SystemExit(done.returncode)


def scores(folder: Path) -> tuple[float, float]:
    """The first and the last evaluation."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines()]
    found = [row["metrics"]["eval/rev3"] for row in rows if "eval/rev3" in row.get("metrics", {})]
    return found[0], found[-1]


def told(outcome: Outcome) -> str:
    """The outcome in a line."""
    slow = "" if outcome.seconds <= SECONDS else f" (more than {SECONDS:.0f} s: is the machine busy?)"
    return (
        f"seed {outcome.seed}: greedy accuracy on held-out prompts {outcome.before:.3f} -> {outcome.after:.3f} "
        f"in {outcome.seconds:.1f} s{slow}; {outcome.folder}/report.html"
    )


if __name__ == "__main__":
    raise SystemExit(main())
