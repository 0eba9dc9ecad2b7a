"""The quick start from the warm model to the report, for one seed or several; `make demo-train` runs it.

    python examples/quickstart_cpu/demo.py --seeds 0 1 2

Preparing (data, tokenizer, warm model) is done on the first run, and its time is told apart.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from vime.observability.run_read import read_run

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo_runs import Demo, folder_of, main, named, seeds_of, timed

HERE = Path(__file__).parent
CONFIG = HERE / "config.yaml"
WRONG_AT_FIRST, RIGHT_IN_THE_END = 0.15, 0.95
SECONDS = 60.0
"""What the run of one seed may take on two quiet cores, the server's start included."""
MEANING = """
What this shows: the whole loop (a vLLM server, Megatron-core over gloo, Ray) changes what the model answers. It prefers to copy
at first and reverses in the end, on prompts that neither the warm start nor the training has seen.
What it does not show: that a model learns something it never saw (the warm start had a quarter of right answers), nor anything
about large models, GPUs, or speed there."""


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

    @property
    def words(self) -> str:
        slow = "" if self.seconds <= SECONDS else f" (more than {SECONDS:.0f} s: is the machine busy?)"
        return (
            f"seed {self.seed}: greedy accuracy on held-out prompts {self.before:.3f} -> {self.after:.3f} "
            f"in {self.seconds:.1f} s{slow}; {self.folder}/report.html"
        )


def one(seed: int, runs: Path, options: list[str]) -> Outcome:
    """Prepare, train and report one seed."""
    data, folder = folder_of(HERE, seed), runs / named("quickstart", seed)
    prepared = timed(HERE / "prepare.py", "--out", data, "--seed", seed)
    print(f"seed {seed}: prepared in {prepared:.1f} s (not counted)", flush=True)
    files = ["--hf-checkpoint", data / "warm", "--prompt-data", data / "train.jsonl"]
    evaluated = ["--eval-prompt-data", "rev3", data / "heldout.jsonl"]
    words = ["--config", CONFIG, *files, *evaluated, *seeds_of(seed), "--run-dir", folder, *options]
    seconds = timed("-m", "vime.cli", "train", *words)
    timed("-m", "vime.cli", "report", folder)
    accuracy = read_run(folder).series["eval/rev3"].values
    return Outcome(seed, accuracy[0], accuracy[-1], seconds, folder)


if __name__ == "__main__":
    raise SystemExit(main(Demo(__doc__.splitlines()[0], one, MEANING)))
