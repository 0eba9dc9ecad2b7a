"""Which metrics are drawn where: a table, and the panels that a run has something for."""

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vime.observability.metric_utils import is_eval_score
from vime.observability.run_read import Series

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Line:
    """One line: the metric, or a pattern of metrics, and what it is called."""

    metric: str
    label: str = ""
    """`{}` stands for what the pattern matched; empty is the metric's own name."""
    unless: str = ""
    """It is left out where there is this metric."""


@dataclass(frozen=True)
class Panel:
    """A plot to be: its title, what it tells, and its lines."""

    title: str
    note: str
    lines: tuple[Line, ...]
    scale: Scale = "linear"
    stacked: bool = False
    total: str = ""
    """For a stack: the metric of the whole, of which what no line accounts for is drawn as `other`."""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    """The axis reaches at least from `low` to `high`."""


@dataclass(frozen=True)
class Filled:
    """A panel with the series found for it, by label."""

    panel: Panel
    series: tuple[tuple[str, Series], ...]


PANELS: tuple[Panel, ...] = (
    Panel("Reward", "mean over the samples of a rollout", (Line("rollout/raw_reward", "reward"),), low=0, high=1),
    Panel("Evaluation", "mean reward on the evaluation sets", (Line("eval/*", "{}"),), low=0, high=1),
    Panel(
        "Response length",
        "tokens that are trained on",
        (
            Line("rollout/response_len/mean", "mean"),
            Line("rollout/response_len/max", "max"),
            Line("rollout/response_len/min", "min"),
        ),
        low=0,
    ),
    Panel(
        "Tool calls",
        "a sample",
        (
            Line("rollout/tool_calls/mean", "mean"),
            Line("rollout/tool_calls/max", "max"),
            Line("rollout/tool_calls/min", "min"),
        ),
        low=0,
    ),
    Panel(
        "Entropy",
        "of the policy, a token",
        (Line("train/entropy_loss", "entropy"), Line("rollout/entropy", "rollout")),
        low=0,
    ),
    Panel(
        "KL",
        "to the policy that generated, and to the reference",
        (Line("train/ppo_kl", "to the old policy"), Line("train/kl_loss", "to the reference")),
    ),
    Panel(
        "Logprob difference",
        "trainer and engine, absolute, a token; log scale",
        (
            Line("train/train_rollout_logprob_abs_diff", "mean"),
            Line("train/train_rollout_logprob_abs_diff_mean", "mean"),
            Line("train/train_rollout_logprob_abs_diff_max", "max"),
            Line("perf/weight_sync_logprob_abs_diff_*", "sync probe, {}"),
        ),
        scale="log",
    ),
    Panel("Gradient norm", "before clipping; log scale", (Line("train/grad_norm", "norm"),), scale="log"),
    Panel("Loss", "", (Line("train/loss", "loss"), Line("train/pg_loss", "policy loss"))),
    Panel(
        "Throughput",
        "tokens a second",
        (
            Line("perf/tokens_per_gpu_per_sec", "generated, a GPU"),
            Line("perf/actor_train_tok_per_s", "trained"),
        ),
        unit="/s",
        low=0,
    ),
    Panel(
        "Time of a step",
        "seconds, one on the other",
        (
            Line("perf/rollout_wait_time", "waiting for generation"),
            Line("perf/rollout_time", "generation", unless="perf/rollout_wait_time"),
            Line("perf/data_preprocess_time", "data"),
            Line("perf/log_probs_time", "logprobs"),
            Line("perf/ref_log_probs_time", "reference"),
            Line("perf/actor_train_time", "update"),
            Line("perf/update_weights_time", "weight sync"),
            Line("perf/eval_time", "evaluation"),
            Line("perf/save_time", "checkpoint"),
        ),
        stacked=True,
        total="perf/step_time",
        unit=" s",
        low=0,
    ),
    Panel(
        "Odd endings",
        "share of the samples",
        (
            Line("rollout/truncated_ratio", "truncated"),
            Line("rollout/aborted_ratio", "aborted"),
            Line("rollout/failed_ratio", "failed"),
            Line("rollout/repetition_frac", "repetition"),
        ),
        low=0,
    ),
    Panel("Clipped", "share of the tokens", (Line("train/pg_clipfrac", "clipped"),), low=0),
    Panel("Step size", "", (Line("train/lr-pg_0", "lr"),), low=0),
)


def filled(series: Mapping[str, Series]) -> list[Filled]:
    """The panels of which the run has a metric."""
    found = [Filled(panel, _lines(panel, series)) for panel in PANELS]
    return [one for one in found if one.series]


def _lines(panel: Panel, series: Mapping[str, Series]) -> tuple[tuple[str, Series], ...]:
    found: dict[str, Series] = {}
    for line in panel.lines:
        if line.unless in series:
            continue
        for name in _matching(line.metric, series):
            finite = series[name].finite()
            label = (line.label or name).replace("{}", _matched(line.metric, name))
            if finite.steps and label not in found and not _always_zero(panel, finite):
                found[label] = finite
    if found and panel.total in series and (total := series[panel.total].finite()).steps:
        found["other"] = _rest(total, list(found.values()))
    return tuple(found.items())


def _rest(total: Series, parts: list[Series]) -> Series:
    """What of the total none of the parts accounts for."""
    known = [dict(zip(part.steps, part.values)) for part in parts]
    rest = (whole - sum(part.get(step, 0.0) for part in known) for step, whole in zip(total.steps, total.values))
    return Series("other", total.step_key, total.steps, tuple(max(value, 0.0) for value in rest))


def _matching(pattern: str, series: Mapping[str, Series]) -> list[str]:
    if "*" not in pattern:
        return [pattern] if pattern in series else []
    names = fnmatch.filter(series, pattern)
    return sorted(
        name
        for name in names
        if name.count("/") == pattern.count("/") and (is_eval_score(name) or not name.startswith("eval/"))
    )


def _matched(pattern: str, name: str) -> str:
    return name.removeprefix(pattern.partition("*")[0])


def _always_zero(panel: Panel, series: Series) -> bool:
    """Parts of a stack that never took time are no part of it."""
    return panel.stacked and not any(series.values)
