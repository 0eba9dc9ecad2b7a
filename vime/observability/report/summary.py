"""A run in a few sentences: what came out, what that shows, and what it does not."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vime.observability.metric_utils import is_eval_score, mean
from vime.observability.number_text import text
from vime.observability.report.overlap import overlaps
from vime.observability.run_read import Run, Series, moment

HIGHLIGHTS = (
    ("model", "hf_checkpoint"),
    ("data type", "dtype"),
    ("device", "device"),
    ("estimator", "advantage_estimator"),
    ("reward", "rm_type"),
    ("step size", "lr"),
    ("rollouts", "num_rollout"),
    ("prompts a rollout", "rollout_batch_size"),
    ("answers a prompt", "n_samples_per_prompt"),
    ("prompts", "prompt_data"),
    ("evaluation", "eval_prompt_data"),
    ("seed", "seed"),
)
MEAN_AGREEMENT, LARGEST_AGREEMENT = 1e-5, 1e-3
"""Logprob differences that float32 on both sides explains: a step's mean, and a token's."""
_ENDS = 5
"""Rollouts over which a beginning and an end are averaged."""

Tone = Literal["good", "bad", "plain"]


@dataclass(frozen=True)
class Sentence:
    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Summary:
    """The head of the page."""

    title: str
    result: Sentence
    remarks: tuple[Sentence, ...]
    facts: tuple[tuple[str, str], ...]
    events: tuple[tuple[str, str, str], ...]
    """When, what, and what belongs to it; the latest."""


def summary(run: Run) -> Summary:
    """What the page says at its head."""
    return Summary(
        title=run.folder.resolve().name,
        result=result(run),
        remarks=tuple(remarks(run)),
        facts=tuple(facts(run)),
        events=tuple(_event(event) for event in run.events[-30:]),
    )


def result(run: Run) -> Sentence:
    """The run in one sentence."""
    scores = _scores(run)
    if scores:
        parts = [f"{one.name.removeprefix('eval/')} {_from_to(one)}" for one in scores]
        better = all(one.values[-1] > one.values[0] for one in scores)
        return Sentence(f"{_what_is_scored(run)}: {'; '.join(parts)}.", "good" if better else "plain")
    reward = _finite(run, "rollout/raw_reward")
    if reward and len(reward.values) > 1:
        first, last = mean(reward.values[:_ENDS]), mean(reward.values[-_ENDS:])
        return Sentence(f"Mean reward on the training prompts: {text(first)} at the start, {text(last)} at the end.")
    if not run.series:
        return Sentence("Nothing is logged yet.")
    return Sentence("There is neither a second evaluation nor a second rollout yet: nothing to compare.")


def remarks(run: Run) -> Iterator[Sentence]:
    """What the result shows and does not show, and what was wrong on the way."""
    if _scores(run):
        yield from _about_evaluation(run)
    else:
        yield Sentence(
            "Without an evaluation before and after, this does not show how the model does on other prompts."
        )
    yield Sentence("One run with one seed shows that this run went so; whether it goes so again takes more seeds.")
    yield from _about_agreement(run)
    if broken := sorted(name for name, one in run.series.items() if len(one.finite().steps) < len(one.steps)):
        yield Sentence(f"Not finite at some step: {', '.join(broken[:8])}.", "bad")
    if run.resumes:
        yield Sentence(f"The run was resumed {_times(run.resumes)}; what was done again is shown once.")
    if run.damaged:
        yield Sentence(f"A crash cut off {run.damaged} line{'s' * (run.damaged > 1)} of the log, left out here.")


def _about_agreement(run: Run) -> Iterator[Sentence]:
    """Whether trainer and engine compute the same, where float32 says how closely they should."""
    mean_of, largest_of = (_finite(run, f"train/train_rollout_logprob_abs_diff{end}") for end in ("", "_max"))
    if mean_of is None or largest_of is None or _config(run).get("dtype") != "float32":
        return
    average, largest = max(mean_of.values), max(largest_of.values)
    agree = average <= MEAN_AGREEMENT and largest <= LARGEST_AGREEMENT
    yield Sentence(
        f"Trainer and engine {'agree at every step' if agree else 'DISAGREE at some step'}: their logprobs differ by up to "
        f"{text(average)} on average and {text(largest)} at a token, where float32 explains {text(MEAN_AGREEMENT)} and "
        f"{text(LARGEST_AGREEMENT)}.",
        "good" if agree else "bad",
    )


def _about_evaluation(run: Run) -> Iterator[Sentence]:
    config = _config(run)
    for one in overlaps(config):
        if one.shared:
            yield Sentence(f"{one.shared} of the {one.asked} prompts of {one.file} are trained on as well.", "bad")
        else:
            yield Sentence(f"None of the {one.asked} prompts of {one.file} is among those that it trains on.", "good")
    if config.get("eval_temperature") == 0:
        yield Sentence(
            "Evaluation is greedy: it tells what the model prefers, and nothing of the spread of its answers."
        )


def facts(run: Run) -> Iterator[tuple[str, str]]:
    """What the run is made of, and how long it took."""
    config = _config(run)
    for label, name in HIGHLIGHTS:
        if config.get(name) not in (None, "", []):
            value = config[name]
            yield label, " ".join(map(str, value)) if isinstance(value, list) else str(value)
    reward = run.series.get("rollout/raw_reward")
    if reward:
        yield "rollouts done", str(len(reward.steps))
    if len(run.times) == 2:
        yield "first to last figure", duration(run.times[1] - run.times[0])
        yield "began", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.times[0]))
    for package, version in _part(run, "versions").items():
        yield str(package), str(version)


def duration(seconds: float) -> str:
    """In words: 48 s, 12 min 5 s, 3 h 20 min."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _what_is_scored(run: Run) -> str:
    config = _config(run)
    if config.get("rm_type") != "exact_match" or config.get("custom_rm_path"):
        return "Mean reward in evaluation"
    return "Greedy accuracy" if config.get("eval_temperature") == 0 else "Accuracy of drawn answers"


def _scores(run: Run) -> list[Series]:
    """Evaluations that there are at least two of."""
    finite = [one.finite() for name, one in sorted(run.series.items()) if is_eval_score(name)]
    return [one for one in finite if len(one.steps) > 1]


def _from_to(one: Series) -> str:
    return f"{_score(one.values[0])} before → {_score(one.values[-1])} after {one.steps[-1] - one.steps[0]} rollouts"


def _score(value: float) -> str:
    return f"{value:.3f}"


def _finite(run: Run, name: str) -> Series | None:
    found = run.series.get(name)
    return found.finite() if found and found.finite().steps else None


def _config(run: Run) -> Mapping[str, Any]:
    return _part(run, "config")


def _part(run: Run, name: str) -> Mapping[str, Any]:
    part = run.config.get(name)
    return part if isinstance(part, dict) else {}


def _event(event: Mapping[str, Any]) -> tuple[str, str, str]:
    about = ", ".join(f"{key} {value}" for key, value in event.items() if key not in ("time", "event"))
    at = moment(event.get("time"))
    when = "" if at is None else time.strftime("%H:%M:%S", time.gmtime(at))
    return when, str(event.get("event")), about[:300]


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
