"""An option that does nothing beside the others is told, and one that counts is not."""

from pathlib import Path

import pytest
from config_world import enough, made

from vime.config.derive import FULLY_ASYNC
from vime.config.groups import GROUPS
from vime.config.option import options_of
from vime.config.rules.effects import EFFECTS

TOLD = [
    (["--lambd", "0.9"], "no critic"),
    (["--gamma", "0.9"], "only reinforce_plus_plus discounts"),
    (["--tis-clip", "3"], "add --use-tis"),
    (["--opsm-delta", "1"], "add --use-opsm"),
    (["--kl-loss-type", "k3"], "no KL is computed"),
    (["--fully-async-max-staleness", "2"], "only the fully-async rollout generates beside training"),
    (["--over-sampling-batch-size", "16", "--rollout-function-path", FULLY_ASYNC], "whenever there is room"),
    (["--min-lr", "1e-9", "--lr-decay-style", "constant"], "does not decay"),
    (["--entropy-coef", "1", "--loss-type", "sft_loss"], "only the policy's loss"),
    (["--kl-coef", "0.1", "--ref-load", "."], "upstream ignores it with grpo"),
    (["--use-kl-loss", "--kl-loss-coef", "0.1", "--ref-load", "."], "gradient of 0 in the mean"),
]


@pytest.mark.parametrize(("words", "said"), TOLD, ids=[" ".join(words) for words, _ in TOLD])
def test_who_sets_an_option_learns_that_it_does_nothing(words: list[str], said: str, tmp_path: Path) -> None:
    warnings = [str(one) for one in made([*enough(tmp_path), *words]).warnings]
    assert any(said in one for one in warnings), warnings


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--use-tis", "--tis-clip", "3"],
        ["--fully-async-max-staleness", "2", "--rollout-function-path", FULLY_ASYNC],
        ["--tis-clip", "2.0", "--entropy-coef", "0"],
        ["--advantage-estimator", "reinforce_plus_plus", "--normalize-advantages", "--gamma", "0.9"],
        ["--use-kl-loss", "--kl-loss-coef", "0.1", "--kl-loss-type", "low_var_kl", "--ref-load", "."],
    ],
    ids=" ".join,
)
def test_nothing_is_said_of_options_that_count(words: list[str], tmp_path: Path) -> None:
    assert made([*enough(tmp_path), *words]).warnings == ()


def test_every_row_is_of_an_option_that_there_is() -> None:
    assert {row.option for row in EFFECTS} <= {one.name for group in GROUPS for one in options_of(group)}
