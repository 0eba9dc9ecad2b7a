"""A run that is killed at random moments and goes on with --load, against one that nothing disturbs.

    python benchmarks/kill_and_resume.py --kills 10 --rollouts 12 --json

Both are the seeded quick start. In each attempt a moment is drawn: of the start, of a generation, a training step, a save
or a sync; then SIGKILL is sent to the driver alone or to every process of the run, and it is started again. Counted are:
attempts that could not go on, processes that outlived a kill of the driver, samples that the rollouts of the finished run
lack or have twice, and the largest difference of a rollout's loss, of every attempt, from the undisturbed run's.
"""

import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]

from whole_run import MANAGER, RANK, SEEDED, WholeRun, losses, prepare  # noqa: E402

GROUPS, SAMPLES = 16, 8
LOSS_BOUND = 1e-4
METHODS = {
    "generation": (MANAGER, "generate"),
    "training": (RANK, "train"),
    "save": (RANK, "call"),
    "sync": (RANK, "update_weights"),
}
"""The moments after the start, by the actor and its method."""
MOMENTS = ("start", *METHODS)
LATEST = {"start": 12.0, "generation": 0.2, "training": 0.15, "save": 0.1, "sync": 0.1}
"""Seconds after a moment began within which the kill falls."""


@dataclass
class Outcome:
    """What was counted, over all kills."""

    kills: list[dict] = field(default_factory=list)
    not_resumed: int = 0
    left_behind: list[str] = field(default_factory=list)
    lost: int = 0
    twice: int = 0
    done_again: int = 0
    """Rollouts that were logged twice: trained on, and killed before the checkpoint."""
    not_logged: int = 0
    """Rollouts that are in a checkpoint and were killed before their line was written."""
    largest_loss_difference: float = 0.0
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return (
            not (self.not_resumed or self.left_behind or self.lost or self.twice)
            and self.largest_loss_difference <= LOSS_BOUND
        )


def main(argv: list[str] | None = None) -> int:
    """The exit status: 1 where something was lost, done twice, left behind, or came out otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10, help="how often it is killed")
    parser.add_argument("--rollouts", type=int, default=12, help="rollouts of the run")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--first", type=int, default=0, help="the kill to begin with, to do them in parts")
    parser.add_argument("--work", type=Path, help="keep the runs here; an undisturbed one that is there is used")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    asked = parser.parse_args(argv)
    scratch = None if asked.work else tempfile.mkdtemp(prefix="kill-and-resume-")
    work = asked.work or Path(scratch)
    try:
        outcome = measure(work, asked.kills, asked.rollouts, asked.seed, asked.first)
    finally:
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)
    print(json.dumps(asdict(outcome), indent=2) if asked.json else in_words(outcome))
    return 0 if outcome.good else 1


def measure(work: Path, kills: int, rollouts: int, seed: int, first: int) -> Outcome:
    """Kill, go on, and compare."""
    began = time.monotonic()
    prepared = prepare(work / "out")
    expected = undisturbed(work / "whole", prepared, rollouts)
    outcome = Outcome()
    folder = work / "killed"
    shutil.rmtree(folder, ignore_errors=True)
    words = (*SEEDED, "--num-rollout", str(rollouts), "--save", str(folder / "ckpt"), "--save-interval", "1")
    chances = [random.Random(f"{seed} {number}") for number in range(first, first + kills)]
    for number, chance in enumerate(chances, first):
        run = WholeRun(folder, prepared, *words, *_going_on(folder))
        kill(run, MOMENTS[number % len(MOMENTS)], chance, outcome)
    run = WholeRun(folder, prepared, *words, *_going_on(folder))
    if run.wait(300):
        outcome.not_resumed += 1
        print(run.output[-2000:], file=sys.stderr)
    outcome.left_behind += run.left_behind()
    compare(run, expected, rollouts, outcome)
    outcome.seconds = time.monotonic() - began
    return outcome


def undisturbed(folder: Path, prepared: Path, rollouts: int) -> dict[int, float]:
    """The loss of each rollout."""
    kept = folder / f"losses-{_digest_of_the_code()}.json"
    if not kept.exists():
        shutil.rmtree(folder, ignore_errors=True)
        run = WholeRun(folder, prepared, *SEEDED, "--num-rollout", str(rollouts))
        if run.wait(300):
            raise SystemExit(f"the undisturbed run failed:\n{run.output[-3000:]}")
        kept.write_text(json.dumps(losses(run.steps())))
    found = {int(number): loss for number, loss in json.loads(kept.read_text()).items()}
    if len(found) != rollouts:
        raise SystemExit(f"{folder} is of {len(found)} rollouts, not {rollouts}: take another folder")
    return found


def kill(run: WholeRun, moment: str, chance: random.Random, outcome: Outcome) -> None:
    """SIGKILL, somewhere in `moment`; what is left of the run is waited for and counted."""
    whose = chance.choice(["driver", "everything"])
    try:
        if moment != "start":
            done = len(run.steps())
            run.until_rollouts(done + chance.randint(0, 1))
            run.until(lambda: run.find(METHODS[moment][0]), "the actors")
            run.until_in(*METHODS[moment])
        time.sleep(chance.uniform(0, LATEST[moment]))
    except AssertionError as ended:
        if run.process.poll() == 0:  # done before the moment came
            return
        outcome.not_resumed += 1
        print(ended, file=sys.stderr)
        return
    began = time.monotonic()
    if whose == "driver":
        run.process.kill()
        run.process.wait()
    else:
        run.kill_all()
    left = run.left_behind()
    outcome.left_behind += left
    gone = round(time.monotonic() - began, 2)
    outcome.kills.append({"moment": moment, "of": whose, "rollouts": len(run.steps()), "gone_after_s": gone})
    print(
        f"killed {whose} in {moment} after {len(run.steps())} rollouts; gone after {gone} s {left or ''}",
        file=sys.stderr,
        flush=True,
    )


def compare(run: WholeRun, expected: dict[int, float], rollouts: int, outcome: Outcome) -> None:
    """Samples by their numbers, and losses of every attempt."""
    counted = Counter(number for numbers in run.trained().values() for number in numbers)
    wanted = range(rollouts * GROUPS * SAMPLES)
    outcome.lost = len(set(wanted) - counted.keys())
    outcome.twice = sum(count - 1 for count in counted.values()) + len(counted.keys() - set(wanted))
    rows = [row for row in run.rows() if "train/loss" in row.get("metrics", ())]
    logged = Counter(row["step"] for row in rows)
    outcome.done_again = sum(count - 1 for count in logged.values())
    outcome.not_logged = rollouts - len(logged)
    outcome.largest_loss_difference = max(abs(row["metrics"]["train/loss"] - expected[row["step"]]) for row in rows)


def in_words(outcome: Outcome) -> str:
    """The figures for a person."""
    return (
        f"{len(outcome.kills)} kills: {outcome.not_resumed} attempts could not go on, {len(outcome.left_behind)} "
        f"processes left behind, {outcome.lost} samples lost, {outcome.twice} trained twice, "
        f"{outcome.done_again} rollouts done again, {outcome.not_logged} not logged, losses at most {outcome.largest_loss_difference:.1e} apart, "
        f"{outcome.seconds:.0f} s"
    )


def _digest_of_the_code() -> str:
    """Another version may draw other samples, and would be compared with what it does not do."""
    sources = sorted((ROOT / "vime").rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def _going_on(folder: Path) -> tuple[str, ...]:
    """--load, once there is a checkpoint."""
    there = (folder / "ckpt/latest_checkpointed_iteration.txt").exists()
    return ("--load", str(folder / "ckpt")) if there else ()


if __name__ == "__main__":
    sys.exit(main())
