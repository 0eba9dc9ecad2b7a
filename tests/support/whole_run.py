"""`vime train` on the quick start's model as a process of its own: watched from outside, hurt, and looked at for what it leaves."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "examples/quickstart_cpu"
SEEDED = ("--vllm-enable-deterministic-inference", "--vllm-no-enable-chunked-prefill")
"""Options with which two runs are the same, sample by sample."""
ENGINE, RANK, MANAGER, ROUTER = "vllm_utils.serve", "ray::TrainRayActor", "ray::RolloutManager", "vllm::router"
"""What the command lines of a run's processes hold; a rank's and the manager's also the method that they are in."""
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_LOOKS = 3
"""Looks in a row that must find nothing: one may miss what was started while it went through the processes."""


def prepare(out: Path, *words: str) -> Path:
    """The folder `out` with the quick start's data and warm model; made where it is not there yet. What is told: OUT.log."""
    command = [sys.executable, str(QUICKSTART / "prepare.py"), "--out", str(out), *words]
    with Path(f"{out}.log").open("w") as log:
        subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=log)
    return out


class WholeRun:
    """One run in `folder`: RUN/log, RUN/output.txt, RUN/dump. `prepared` is what `prepare` gave.

    What the run's processes leave behind becomes a child of this process, however they end, and so is found.
    """

    def __init__(self, folder: Path, prepared: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        self.folder, self._others = folder, set(descendants(os.getpid()))
        folder.mkdir(parents=True, exist_ok=True)
        self.words = (
            *("--config", str(QUICKSTART / "config.yaml"), "--hf-checkpoint", str(prepared / "warm")),
            *("--prompt-data", str(prepared / "train.jsonl"), "--run-dir", str(folder / "log"), "--eval-interval=1000"),
            *("--eval-prompt-data", "rev3", str(prepared / "heldout.jsonl"), "--lr-warmup-iters", "2"),
            *("--save-debug-rollout-data", str(folder / "dump/{rollout_id}.jsonl"), *words),
        )
        own = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with (folder / "output.txt").open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "vime.cli", "train", *self.words],
                cwd=ROOT,
                env=os.environ | own | dict(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        """What it has said so far."""
        return (self.folder / "output.txt").read_text("utf-8", "replace")

    def wait(self, timeout: float = 240.0) -> int:
        """Its exit status; what takes longer is killed."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise TimeoutError(f"still running after {timeout:g} s:\n{self.output[-3000:]}") from None

    def until(self, condition: Callable[[], object], what: str, timeout: float = 120.0) -> None:
        """Wait for a moment of the run. Raises AssertionError where it ends before."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert self.process.poll() is None, f"it ended before {what}:\n{self.output[-3000:]}"
            if time.monotonic() > deadline:
                self.kill_all()
                raise TimeoutError(f"{what} did not come:\n{self.output[-3000:]}")
            time.sleep(0.002)

    def until_rollouts(self, count: int, timeout: float = 120.0) -> None:
        """Wait until rollouts up to number `count` - 1 were trained on."""
        self.until(lambda: time.sleep(0.05) or len(self.steps()) >= count, f"rollout {count}", timeout)

    def until_in(self, who: str, method: str, timeout: float = 120.0) -> None:
        """Wait until an actor is in a method, of which Ray tells in its command line."""
        (pid,) = self.find(who)[:1]
        self.until(lambda: f"{who}.{method}" in command_line(pid), f"{who}.{method}", timeout)

    def find(self, words: str) -> list[int]:
        """Processes of the run with `words` in their command lines, leaders before what they started."""
        return sorted(pid for pid in self.members() if words in command_line(pid))

    def members(self) -> list[int]:
        """Every process of the run that is there."""
        return [pid for pid in descendants(os.getpid()) if pid not in self._others]

    def kill_all(self) -> None:
        """SIGKILL for every process, the driver first."""
        for pid in (self.process.pid, *self.members()):
            _kill(pid)
        self.process.wait()

    def left_behind(self, within: float = 15.0) -> list[str]:
        """What still runs so many seconds after the run ended; it is killed then."""
        assert self.process.poll() is not None, "it has not ended"
        deadline = time.monotonic() + within
        left, looks = {}, 0
        while looks < _LOOKS and time.monotonic() < deadline:
            left = {pid: command_line(pid) for pid in self.members()}
            looks = 0 if left else looks + 1
            time.sleep(0.1)
        for pid in left:
            _kill(pid)
        return [f"{pid} {line[:120]}" for pid, line in left.items()]

    def steps(self) -> dict[int, dict[str, float]]:
        """The figures of each rollout that was trained on, the last where one was done twice."""
        return {row["step"]: row["metrics"] for row in self.rows() if "train/loss" in row.get("metrics", ())}

    def rows(self) -> list[dict]:
        """The log's lines."""
        path = self.folder / "log/metrics.jsonl"
        lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}\n")]

    def trained(self) -> dict[int, list[int]]:
        """The numbers of the samples that each rollout was trained on."""
        found = {
            int(path.stem): path.read_text("utf-8").splitlines() for path in (self.folder / "dump").glob("*.jsonl")
        }
        return {number: [json.loads(line)["index"] for line in lines] for number, lines in sorted(found.items())}


def descendants(root: int) -> list[int]:
    """The processes below `root` that run."""
    parents = dict(_parents())
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {root})


def command_line(pid: int) -> str:
    """Empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def last_words(output: str, lines: int = 6) -> str:
    """The end of what a run said."""
    return "\n".join(output.splitlines()[-lines:])


def losses(steps: Mapping[int, Mapping[str, float]]) -> dict[int, float]:
    """Of each rollout."""
    return {number: metrics["train/loss"] for number, metrics in steps.items()}


def apart(one: Mapping[int, float], other: Mapping[int, float], numbers: Sequence[int]) -> float:
    """The largest difference."""
    return max(abs(one[number] - other[number]) for number in numbers)


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in "ZX":
                yield int(entry.name), int(fields[1])


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
