"""No option is accepted in silence and then ignored."""

import dataclasses
import re
from pathlib import Path

import pytest
from config_world import alone, enough, made, problems

from vime.config.groups import GROUPS
from vime.config.resolve import resolve
from vime.config.rules.missing import REFUSED, WITHOUT_EFFECT

ROOT = Path(__file__).parents[3] / "vime"
OPTIONS = {field.name for group in GROUPS for field in dataclasses.fields(group)}
READ_BY_FIELD = {"adam_beta1", "adam_beta2", "adam_eps"}
"""Megatron-core's optimizer has fields of these names, which are filled from `args`."""
ONE_VALUE = {"train_backend"}
BY_RULES = {"custom_config_path", "keep_old_actor", "num_steps_per_rollout", "update_weight_mode", "use_routing_replay"}
"""Refused, or made into other options, by vime.config itself."""
READ_IN_VAIN = {"offload_rollout", "wandb_always_use_train_step", "lambd", "megatron_config_path"}
"""The first lets an engine sleep, and the loop sends none to sleep; the second is for log functions of one's own; the last two
are parameters of functions for upstream's code."""
UNUSED_MODULES = {"utils/health_monitor.py"}
"""Upstream's, for code of one's own; the loop does not use it."""


def test_every_option_is_read_or_told_to_have_no_effect() -> None:
    source = "\n".join(
        path.read_text("utf-8")
        for path in ROOT.rglob("*.py")
        if (where := path.relative_to(ROOT).as_posix()) not in UNUSED_MODULES and not where.startswith("config/")
    )
    unread = {name for name in OPTIONS if not re.search(rf"\b{name}\b", source)}
    assert unread - READ_BY_FIELD - ONE_VALUE - BY_RULES == (WITHOUT_EFFECT.keys() | REFUSED.keys()) - READ_IN_VAIN


@pytest.mark.parametrize("words", [["--use-fault-tolerance"], ["--rollout-data-transport", "nixl"]])
def test_an_option_without_effect_is_told_and_stops_nothing(tmp_path: Path, words: list[str]) -> None:
    config = resolve([*enough(tmp_path), *words], [], alone())
    assert any("has no effect here" in str(warning) for warning in config.warnings)


def test_what_would_change_the_run_is_refused(tmp_path: Path) -> None:
    assert any("does not have it" in line for line in problems([*enough(tmp_path), "--use-stateless-adam"]))


def test_what_a_default_says_is_not_told(tmp_path: Path) -> None:
    assert not made([*enough(tmp_path), "--rollout-data-transport", "object-store"]).warnings
