"""Rules about evaluation sets."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from vime.config.derive import OWN_ROLLOUTS
from vime.config.groups.evaluation import Evaluation
from vime.config.groups.reward import RM_TYPES
from vime.config.groups.rollout import Rollout
from vime.config.option import Option, options_of
from vime.config.parse import BadValue, parse
from vime.config.problems import Problem
from vime.config.rules.check import Check
from vime.utils.eval_config import DATASET_RUNTIME_SPECS, EvalConfigError, EvalDatasetConfig, eval_datasets


def evaluation(c: Check) -> Iterator[Problem]:
    """Evaluation has sets, named once, and a reward for single answers."""
    if c.eval_interval is not None and not c.eval_prompt_data and not c.eval_config:
        yield c.problem("eval_interval", "there is nothing to evaluate on", "set --eval-prompt-data NAME FILE")
    if c.eval_prompt_data and c.eval_config:
        yield c.problem("eval_prompt_data eval_config", "the sets are named twice", "keep one of them")
    evaluates = c.eval_interval is not None and not c.debug_train_only
    if evaluates and c.group_rm and c.eval_function_path in OWN_ROLLOUTS:
        yield c.problem(
            "group_rm eval_interval",
            "a reward of whole groups has none for the single answers of an evaluation",
            "leave one of them out, or evaluate with an --eval-function-path of your own",
        )


def sets(c: Check) -> Iterator[Problem]:
    """Each set can be read, and has values that the options of the same meaning would take."""
    option = "eval_config" if c.eval_config else "eval_prompt_data"
    try:
        found = eval_datasets(c.args)
    except EvalConfigError as error:
        yield c.problem(option, str(error), "correct the file" if c.eval_config else "give NAME FILE for each set")
        return
    for one in found:
        about, wrong = f"evaluation set {one.name}", 0
        for name, value, row in _values(one):
            try:
                _check(row, value)
            except BadValue as bad:
                wrong += 1
                yield c.problem(option, f"{about}: {name}: {bad}", f"give {row.type_name}")
        if not wrong and one.min_new_tokens and one.max_response_len and one.min_new_tokens > one.max_response_len:
            what = f"{about}: answers of {one.min_new_tokens} tokens at least and {one.max_response_len} at most"
            yield c.problem(option, what, "lower the one, or raise the other")
        if one.rm_type and one.rm_type.removeprefix("boxed_") not in RM_TYPES and not one.custom_rm_path:
            what = f"{about}: there is no reward {one.rm_type}"
            yield c.problem(option, what, f"choose one of {', '.join(RM_TYPES)}")


def _values(one: EvalDatasetConfig) -> Iterator[tuple[str, Any, Option]]:
    """Each value of a set that an option describes."""
    for name, options in DATASET_RUNTIME_SPECS.items():
        if (value := getattr(one, name)) is not None:
            yield name, value, _rows()[options[0]]


@cache
def _rows() -> dict[str, Option]:
    return {row.name: row for group in (Evaluation, Rollout) for row in options_of(group)}


def _check(row: Option, value: Any) -> None:
    """Raises BadValue for what the option would not take."""
    if row.many != isinstance(value, list | tuple):
        raise BadValue(f"{value!r} is {'no list' if row.many else 'a list'}")
    for one in value if row.many else [value]:
        if isinstance(one, bool) or (row.kind == "str") != isinstance(one, str):
            raise BadValue(f"{one!r} is of the wrong type")
        parse(row, one if isinstance(one, str) else repr(one))


RULES = (evaluation, sets)
