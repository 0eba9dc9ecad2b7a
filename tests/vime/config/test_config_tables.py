"""The tables: upstream's flags under upstream's names, types and defaults."""

import ast
import dataclasses
from pathlib import Path

import pytest
from config_world import enough, made

from vime.config.groups import GROUPS
from vime.config.schema import own_options

OPTIONS = {option.name: option for option in own_options()}


def test_each_flag_and_attribute_stands_once():
    flags = [flag for option in own_options() for flag in option.flags + option.off_flags]
    assert len(flags) == len(set(flags)) and len(OPTIONS) == len(own_options())


def test_no_group_is_called_like_an_option():
    keys = {flag.removeprefix("--").replace("-", "_") for option in OPTIONS.values() for flag in option.flags}
    assert not {group.NAME for group in GROUPS} & (keys | set(OPTIONS)) - {"optimizer"}


def test_every_group_is_frozen_and_every_option_is_explained():
    for group in GROUPS:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(group(), dataclasses.fields(group)[0].name, 1)
    assert all(option.help.endswith(".") and option.help[0] != " " for option in OPTIONS.values())


def test_every_attribute_that_the_framework_reads_is_there(tmp_path):
    args = made(enough(tmp_path)).args
    only_with_experts = {"moe_router_topk"}
    root = Path(__file__).parents[3] / "vime"
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] != "config":
            assert _reads(path) - only_with_experts <= set(dir(args)), path


def _reads(path: Path) -> set[str]:
    """The attributes of `args` and `self.args` that a module reads."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)]
    return {node.attr for node in nodes if "args" in (getattr(node.value, "id", ""), getattr(node.value, "attr", ""))}


@pytest.mark.parametrize(
    ("name", "flag", "kind", "default"),
    [
        ("rollout_batch_size", "--rollout-batch-size", "int", None),
        ("eps_clip", "--eps-clip", "float", 0.2),
        ("advantage_estimator", "--advantage-estimator", "str", "grpo"),
        ("rollout_global_dataset", "--disable-rollout-global-dataset", "bool", True),
        ("grpo_std_normalization", "--disable-grpo-std-normalization", "bool", True),
        ("rollout_function_path", "--rollout-function-path", "str", "vime.rollout.vllm_rollout.generate_rollout"),
        ("update_weight_buffer_size", "--update-weight-buffer-size", "int", 536870912),
        ("vllm_router_ip", "--vllm-router-ip", "str", None),
        ("train_env_vars", "--train-env-vars", "json", {}),
    ],
)
def test_upstreams_names(name, flag, kind, default):
    option = OPTIONS[name]
    assert (option.flag, option.kind, option.default) == (flag, kind, default)
