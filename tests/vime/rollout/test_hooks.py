"""Hooks are checked when they are loaded."""

import functools
import inspect
from pathlib import Path

import pytest
from rollout_world import options

from vime.config.args import Args, Guarded
from vime.config.rules import broken
from vime.config.rules.check import Check
from vime.config.schema import own_options
from vime.device import detect
from vime.rollout.hook_table import markdown
from vime.rollout.hooks import HOOKS, RULES, HookInvalid, load_hook

number = 3


def two(args, sample):
    return 1.0


async def later(args, sample, **kwargs):
    return 1.0


@functools.wraps(later)
def wrapped(*args, **kwargs):
    return later(*args, **kwargs)


def rollout(args, rollout_id, data_buffer, evaluation=False):
    return []


def without_evaluation(args, rollout_id, data_source):
    return []


async def generate(args, sample, sampling_params, evaluation=False):
    return sample


def hook(args, sample, *, evaluation):
    return None


class NoSource:
    def __init__(self, args):
        self.args = args


GOOD = [
    ("rollout_function_path", "rollout"),
    ("custom_generate_function_path", "generate"),
    ("custom_rm_path", "later"),
    ("custom_rm_path", "two"),
    ("custom_rm_path", "wrapped"),
    ("rollout_sample_hook_path", "hook"),
]
BAD = [
    ("custom_rm_path", "missing", "has no 'missing'"),
    ("custom_rm_path", "number", "it is a int, not a function"),
    ("custom_rm_path", "rollout", r"do not fit: missing a required argument: 'data_buffer'; it is called f\(args, sample\)"),
    ("rollout_function_path", "without_evaluation", r"'evaluation'; it is called f\(args, rollout_id, data_source, ev"),
    ("dynamic_sampling_filter_path", "later", "asynchronous, and nothing awaits it"),
    ("custom_generate_function_path", "rollout", "not asynchronous, and is awaited"),
    ("data_source_path", "NoSource", "it has no get_samples, add_samples, save, load, __len__"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), GOOD)
def test_what_fits_is_loaded(kind, name):
    assert load_hook(kind, f"{__name__}.{name}") is globals()[name]


@pytest.mark.parametrize(("kind", "name", "message"), BAD)
def test_what_does_not_fit_says_why_and_how_it_is_called(kind, name, message):
    with pytest.raises(HookInvalid, match=message):
        load_hook(kind, f"{__name__}.{name}")


@pytest.mark.parametrize("path", ["nothing.at.all", "nodots"])
def test_a_wrong_path(path):
    with pytest.raises(HookInvalid, match=r"dotted path|there is no module nothing; .*PYTHONPATH"):
        load_hook("custom_rm_path", path)


def problems(**named):
    defaults = {option.name: option.default for option in own_options()}
    args = Args(**(defaults | vars(options()) | {"eval_function_path": None} | named))
    return broken(Check(Guarded(args, frozenset()), detect("cpu"), {}), RULES)


def test_every_problem_is_told_at_once():
    found = problems(
        custom_rm_path=f"{__name__}.missing",
        dynamic_sampling_filter_path=f"{__name__}.later",
        rollout_sample_hook_path=(f"{__name__}.hook", f"{__name__}.number"),
    )
    assert [problem.where for problem in found] == [
        "--rollout-sample-hook-path",
        "--custom-rm-path",
        "--dynamic-sampling-filter-path",
    ]


def test_the_defaults_fit():
    defaults = {option.name: option.default for option in own_options()}
    assert problems(**{hook.kind: defaults.get(hook.kind) for hook in HOOKS}) == []


def test_every_option_that_names_a_function_is_in_the_table():
    kinds = {hook.kind for hook in HOOKS}
    named = {option.name for option in own_options() if option.name.endswith("_path")}
    assert named - kinds == {"custom_config_path", "megatron_config_path"} & named
    assert all(inspect.signature(hook.shape.__call__).return_annotation for hook in HOOKS)


def test_the_documented_table_is_the_one_that_holds():
    page = (Path(__file__).parents[3] / "docs/hooks.md").read_text("utf-8")
    assert markdown() in page, "write what `python -m vime.rollout.hook_table` prints into docs/hooks.md"
