"""Every option of the trainer changes something, is refused, or is told to do nothing."""

import ast
from pathlib import Path

import pytest
from config_world import enough, made

import vime
from vime.config.groups import GROUPS, Algorithm, Checkpoint, Debug, Optimizer, Parallel
from vime.config.option import options_of
from vime.config.rules.effects import EFFECTS
from vime.config.rules.missing import REFUSED, WITHOUT_EFFECT

SOURCE = Path(vime.__file__).parent
BY_MEGATRON = {"optimizer", "adam_beta1", "adam_beta2", "adam_eps", "sequence_parallel"}
"""Read by Megatron-core, under the same names; that they count is tested beside the trainer."""
ELSEWHERE = {"keep_old_actor", "use_routing_replay", "use_rollout_routing_replay"}
"""Refused by rules of their own."""


def read_by_the_program() -> set[str]:
    """Names of attributes that are read anywhere but in the configuration itself."""
    found: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        if file.relative_to(SOURCE).parts[:2] not in (("config", "groups"), ("config", "rules")):
            tree = ast.parse(file.read_text("utf-8"))
            found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 1)
            found |= {str(c.args[1].value) for c in calls if isinstance(c.args[1], ast.Constant)}  # getattr(args, name)
    return found


def test_no_option_is_forgotten() -> None:
    names = {one.name for group in (Algorithm, Checkpoint, Optimizer, Debug, Parallel) for one in options_of(group)}
    told = {row.option for row in EFFECTS} | set(WITHOUT_EFFECT) | set(REFUSED)
    assert names - read_by_the_program() - BY_MEGATRON - ELSEWHERE - told == set()
    assert told <= {one.name for group in GROUPS for one in options_of(group)}


TOLD = [
    (["--lambd", "0.9"], "no critic"),
    (["--gamma", "0.9"], "only reinforce_plus_plus discounts"),
    (["--tis-clip", "3"], "add --use-tis"),
    (["--opsm-delta", "1"], "add --use-opsm"),
    (["--kl-loss-type", "k3"], "no KL is computed"),
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
        ["--tis-clip", "2.0", "--entropy-coef", "0"],
        ["--advantage-estimator", "reinforce_plus_plus", "--normalize-advantages", "--gamma", "0.9"],
        ["--use-kl-loss", "--kl-loss-coef", "0.1", "--kl-loss-type", "low_var_kl", "--ref-load", "."],
    ],
    ids=" ".join,
)
def test_nothing_is_said_of_options_that_count(words: list[str], tmp_path: Path) -> None:
    assert made([*enough(tmp_path), *words]).warnings == ()
