"""Evidence keeps the figures of a log and says which of them show nothing."""

import pytest
from ledger_world import change_set, port, sample

from sync_tools.errors import SyncError
from sync_tools.ledger.evidence import attach, code_tree, gather, stale
from sync_tools.ledger.overview import overview
from sync_tools.ledger.proof import Evidence
from sync_tools.ledger.store import dumps, loads

STEPS = range(6)
LOGS = {
    "json lines": "".join(
        f'{{"step": {i}, "rollout": {{"raw_reward": {i / 10}}}, "train/grad_norm": 1.5, "logprobs": [-0.1, -{i}]}}\n'
        for i in STEPS
    ),
    "csv": "step,rollout/raw_reward,train/grad_norm,logprobs\n"
    + "".join(f"{i},{i / 10},1.5,-0.{i}\n" for i in range(1, 7)),
    "dicts": "".join(
        f"INFO 12:00:0{i} train.py:88 step {i}: {{'train/step': {i}, 'rollout/raw_reward': {i / 10}, 'train/grad_norm': 1.5, 'rollout/log_probs': -0.{i}1}}\n"
        for i in STEPS
    ),
    "pairs": "".join(f"[{i}] step={i} reward={i / 10} grad_norm=1.5e0 logprob=-.{i}5 lr=1e-6\n" for i in STEPS),
}


def evidence(content: str, level: str = "smoke") -> Evidence:
    return gather(content.encode(), "/tmp/run.log", level, "a" * 40, "b" * 40, "2 cores", "python train.py")


@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.parametrize("level", ["smoke", "converged"])
def test_figures_are_read_from_every_form(kind: str, level: str) -> None:
    found = evidence(LOGS[kind], level)
    assert found.warnings == ()
    assert any("6 steps" in value for value in found.figures.values())
    assert any("reward" in key for key in found.figures)
    assert any("logprob" in key or "log_prob" in key for key in found.figures)
    assert found.log == "run.log"


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        ("step=1 logprob=0.0 reward=1\nstep=2 logprob=0.0 reward=2\n", "logprob is 0.0 throughout"),
        ("step=1 reward=0.5\nstep=2 reward=0.5\n", "reward is constant at 0.5"),
        ('{"step": 1, "loss": NaN}\n', "loss is not a number in 1 of 1"),
        ("{'step': 1, 'train/loss': nan, 'x': inf}\n", "train/loss is not a number in 1 of 1"),
        ("step=1 grad_norm=0.0\n", "grad_norm is 0.0 throughout"),
        ("reward=1\nreward=2\n", "no step was counted"),
        ("3 passed, 1 failed in 0.2s\n", "1 failed"),
        (
            '{"step": 1, "output_token_logprobs": [[0.0, 5, null], [0.0, 6, null]]}\n',
            "output_token_logprobs is 0.0 throughout",
        ),
    ],
)
def test_degenerate_figures_are_flagged(content: str, warning: str) -> None:
    assert warning in evidence(content).warnings


def test_what_an_evaluation_came_to_is_kept_and_its_times_are_not() -> None:
    lines = "".join(f'{{"step": {i}, "metrics": {{"eval/aime": {i / 10}, "eval/aime/time": 3}}}}\n' for i in (0, 20))
    assert evidence(lines).figures["metrics/eval/aime"] == "0 first, 2 last, 0 to 2 over 2"
    assert "metrics/eval/aime/time" not in evidence(lines).figures


def test_a_difference_of_logprobs_may_be_zero() -> None:
    assert (
        evidence("step=1 train_rollout_logprob_abs_diff=0.0\nstep=2 train_rollout_logprob_abs_diff=0.0\n").warnings
        == ()
    )


def test_a_curve_that_falls_has_not_converged() -> None:
    falling = "".join(f"step={i} reward={10 - i}\n" for i in range(9))
    assert evidence(falling, "converged").warnings == ("no reward is higher at the end than at the beginning",)


@pytest.mark.parametrize(
    "content",
    ["", "nothing here\n", "12:00:01 started pid 77\n", "a,b\n1,2\n", "{" * 2000, '{"step": "' + "9" * 5000 + '"}'],
)
def test_a_log_without_figures_is_refused(content: str) -> None:
    with pytest.raises(SyncError, match="no figures"):
        evidence(content)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(SyncError, match="level"):
        evidence(LOGS["pairs"], "certain")


def test_evidence_is_kept_once_and_goes_stale_with_the_tree() -> None:
    files, fork = sample()
    ledger = port(change_set(files.changes()), fork).landing.ledger
    found = evidence(LOGS["pairs"])
    ledger = attach(attach(ledger, found), found)
    assert ledger.verification.evidence == (found,)
    assert loads(dumps(ledger), "x") == ledger
    assert stale(ledger, "b" * 40) == ()
    assert stale(ledger, "f" * 40) == (found,)


def test_the_overview_counts_evidence_that_shows_something() -> None:
    from datetime import date

    files, fork = sample()
    ledger = port(change_set(files.changes()), fork).landing.ledger
    good, bad = evidence(LOGS["pairs"]), evidence("step=1 reward=1\nstep=2 reward=1\n", "converged")
    (row,) = overview([attach(attach(ledger, good), bad)], date(2026, 6, 1), "b" * 40)
    assert (row.evidence, row.stale) == ("smoke", 0)


def test_ledgers_are_no_code() -> None:
    listing = [("vime/a.py", "1"), ("ledgers/slime-1.json", "2")]
    assert code_tree(listing, "ledgers") == code_tree(listing[:1], "ledgers") != code_tree(listing[1:], "ledgers")
