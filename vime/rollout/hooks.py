"""Functions that options name, checked when they are loaded: that they exist, can be called, and how.

A function says itself what it cannot do, by rules that are run with those of the configuration (see `with_rules`).
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from vime.config.problems import Problem
from vime.config.rules import findings
from vime.config.rules.check import Check, Rule
from vime.errors import travels
from vime.rollout import hook_protocols as shapes
from vime.utils.eval_config import EvalConfigError, eval_datasets

__all__ = ["HOOKS", "RULES", "Hook", "HookInvalid", "load_hook", "with_rules"]

F = TypeVar("F", bound=Callable[..., Any])


@travels
class HookInvalid(ValueError):
    """A hook that cannot work: names the option and the function, says what is wrong and how to mend it."""

    def __init__(self, hook: Hook, path: str, what: str, fix: str = "") -> None:
        self.hook, self.path, self.what, self.fix = hook, path, what, fix or f"it is called {hook.call}"
        super().__init__(f"{hook.flag} {path}: {what}; {self.fix}")


@dataclass(frozen=True)
class Hook:
    """An option that names a function: the attribute of `args`, the shape of the function, and whether it is awaited."""

    kind: str
    shape: type
    awaited: Literal["never", "always", "either"] = "never"
    methods: tuple[str, ...] = ()
    """What an instance must have, where the option names a class."""

    @property
    def flag(self) -> str:
        return "--" + self.kind.replace("_", "-")

    @property
    def signature(self) -> inspect.Signature:
        own = inspect.signature(self.shape.__call__)
        return own.replace(parameters=list(own.parameters.values())[1:])

    @property
    def call(self) -> str:
        """How it is called, in words of Python."""
        words = [
            f"{one.name}=..." if one.kind is one.KEYWORD_ONLY else one.name
            for one in self.signature.parameters.values()
        ]
        return f"{'await ' if self.awaited == 'always' else ''}{'Class' if self.methods else 'f'}({', '.join(words)})"


_SOURCE = ("get_samples", "add_samples", "save", "load", "__len__")
HOOKS = (
    Hook("rollout_function_path", shapes.RolloutFunction),
    Hook("eval_function_path", shapes.RolloutFunction),
    Hook("custom_generate_function_path", shapes.Generate, "always"),
    Hook("rollout_sample_hook_path", shapes.SampleHook, "either"),
    Hook("custom_rm_path", shapes.RewardFunction, "either"),
    Hook("dynamic_sampling_filter_path", shapes.DynamicFilter),
    Hook("buffer_filter_path", shapes.BufferFilter),
    Hook("data_source_path", shapes.DataSourceClass, methods=_SOURCE),
    Hook("rollout_sample_filter_path", shapes.SampleFilter),
    Hook("rollout_all_samples_process_path", shapes.AllSamplesProcess),
    Hook("rollout_data_postprocess_path", shapes.RolloutDataPostprocess),
    Hook("custom_reward_post_process_path", shapes.RewardPostProcess),
    Hook("custom_convert_samples_to_train_data_path", shapes.ConvertSamples),
    Hook("custom_advantage_function_path", shapes.Advantages),
    Hook("custom_loss_function_path", shapes.Loss),
    Hook("custom_tis_function_path", shapes.TruncatedImportanceSampling),
    Hook("custom_pg_loss_reducer_function_path", shapes.PolicyLossReducer),
    Hook("custom_rollout_log_function_path", shapes.RolloutLog),
    Hook("custom_eval_rollout_log_function_path", shapes.EvalLog),
    Hook("custom_megatron_init_path", shapes.MegatronInit),
    Hook("custom_megatron_before_log_prob_hook_path", shapes.BeforeLogProb),
    Hook("custom_megatron_before_train_step_hook_path", shapes.BeforeTrainStep),
    Hook("custom_model_provider_path", shapes.ModelProvider),
    Hook("custom_update_weight_post_write_path", shapes.UpdateWeightPostWrite),
)
_BY_KIND = {hook.kind: hook for hook in HOOKS}


@cache
def load_hook(kind: str, path: str) -> Callable[..., Any]:
    """The function at the dotted `path` for the option `kind`. Raises HookInvalid where it cannot be called as it will be."""
    hook = _BY_KIND[kind]
    function = _found(hook, path)
    if not callable(function):
        raise HookInvalid(hook, path, f"it is a {type(function).__name__}, not a function")
    _check_awaited(hook, path, function)
    _check_parameters(hook, path, function)
    if missing := [name for name in hook.methods if not hasattr(function, name)]:
        raise HookInvalid(hook, path, f"it has no {', '.join(missing)}")
    return function


def with_rules(*rules: Rule) -> Callable[[F], F]:
    """Decorator of a function that an option names: what these rules find is told with all that is wrong with the
    configuration, before anything starts. A rule is as those of vime.config.rules:

        def whole_answers(c: Check) -> Iterator[Problem]:
            if c.partial_rollout:
                yield c.problem("partial_rollout", "generate begins every answer anew", "leave it out")
    """

    def marked(function: F) -> F:
        function.rules = rules  # type: ignore[attr-defined]
        return function

    return marked


def hooks(c: Check) -> Iterator[Problem]:
    """Every function that an option names is there, can be called, and does what is asked for."""
    named = []
    for hook in HOOKS:
        value = getattr(c, hook.kind)
        named += [(hook, path, hook.kind) for path in ([value] if isinstance(value, str) else value or ())]
    yield from _wrong(c, named)


def hooks_of_sets(c: Check) -> Iterator[Problem]:
    """So are those that an evaluation set names for itself."""
    try:
        sets = eval_datasets(c.args)
    except EvalConfigError:  # a rule of its own tells what is wrong with them
        return
    for kind in ("custom_generate_function_path", "custom_rm_path"):
        paths = dict.fromkeys(getattr(one, kind) for one in sets)
        own = [path for path in paths if path and path != getattr(c, kind)]
        yield from _wrong(c, [(_BY_KIND[kind], path, "eval_config") for path in own])


def _wrong(c: Check, named: Iterable[tuple[Hook, str, str]]) -> Iterator[Problem]:
    """What is wrong with hooks, each with its path and the option that names it."""
    bring: dict[Rule, None] = {}
    for hook, path, option in named:
        try:
            bring |= dict.fromkeys(getattr(load_hook(hook.kind, path), "rules", ()))
        except HookInvalid as error:
            yield c.problem(option, f"{path}: {error.what}", error.fix)
    for rule in bring:
        yield from findings(rule, c)


RULES: tuple[Rule, ...] = (hooks, hooks_of_sets)
"""To be run with those of the configuration; what they load is the user's."""


def _found(hook: Hook, path: str) -> Any:
    module_path, _, name = path.rpartition(".")
    if not module_path:
        raise HookInvalid(hook, path, "it is no dotted path of the form package.module.name")
    try:
        module = importlib.import_module(module_path)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_path}.".startswith(f"{error.name}."):
            raise _not_importable(hook, path, error) from error
        raise HookInvalid(hook, path, f"there is no module {error.name}", _where_it_is_sought()) from error
    except Exception as error:
        raise _not_importable(hook, path, error) from error
    if not hasattr(module, name):
        raise HookInvalid(hook, path, f"module {module_path} has no {name!r}")
    return getattr(module, name)


def _not_importable(hook: Hook, path: str, error: Exception) -> HookInvalid:
    module = path.rpartition(".")[0]
    what = f"module {module} cannot be imported: {type(error).__name__}: {error}"
    return HookInvalid(hook, path, what, f"mend it until python -c 'import {module}' works")


def _where_it_is_sought() -> str:
    folders = os.environ.get("PYTHONPATH")
    return f"put the folder that it is in on PYTHONPATH, which is {folders or 'not set'}"


def _check_awaited(hook: Hook, path: str, function: Any) -> None:
    plain = inspect.unwrap(function)
    asynchronous = inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(type(plain).__call__)
    if hook.awaited == "never" and asynchronous:
        raise HookInvalid(hook, path, "it is asynchronous, and nothing awaits it: write def, not async def")
    if hook.awaited == "always" and inspect.isfunction(plain) and not asynchronous:
        raise HookInvalid(hook, path, "it is not asynchronous, and is awaited: write async def")


def _check_parameters(hook: Hook, path: str, function: Any) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Written in C, as a rule: it will be seen when it is called.
        return
    wanted = hook.signature.parameters.values()
    positional = [one.name for one in wanted if one.kind is not one.KEYWORD_ONLY]
    keywords = {one.name: None for one in wanted if one.kind is one.KEYWORD_ONLY}
    if hook.kind == "rollout_sample_hook_path":
        # It gets those that it has.
        keywords = {name: None for name in ("rollout_id", "evaluation") if name in signature.parameters}
    try:
        signature.bind(*positional, **keywords)
    except TypeError as error:
        raise HookInvalid(hook, path, f"its parameters {signature} do not fit: {error}") from None
