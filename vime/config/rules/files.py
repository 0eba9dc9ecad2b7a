"""Rules about files, and about options of installed packages that the framework sets itself."""

from collections.abc import Iterator
from pathlib import Path

from vime.config.engine_groups import VllmConfig, VllmConfigError
from vime.config.owned import OWNED
from vime.config.problems import Problem
from vime.config.rules.check import Check


def owned(c: Check) -> Iterator[Problem]:
    """Two options for one thing would contradict each other."""
    for name, instead in OWNED.items():
        if c.set(name):
            yield c.problem(name, "the framework sets it", f"use {instead}" if instead else "leave it out")


def data(c: Check) -> Iterator[Problem]:
    """Data that is not there yet is worth a word; who reads it makes it an error."""
    sets = list(c.eval_prompt_data or ())
    for name, path in [("prompt_data", c.prompt_data), *(("eval_prompt_data", path) for path in sets[1::2] or sets)]:
        file = (path or "").split("@[")[0]
        if file and not Path(file).exists():
            yield c.warning(name, f"{file} does not exist", "write it before training starts")


def settings(c: Check) -> Iterator[Problem]:
    """Files of settings are read at the start, by whom they belong to."""
    for name in ("eval_config", "vllm_config"):
        path = getattr(c, name)
        if path and not Path(path).is_file():
            yield c.problem(name, f"there is no file {path}", "name one, or leave it out")
        elif path and name == "vllm_config":
            yield from _engine_groups(c, path)


def _engine_groups(c: Check, path: str) -> Iterator[Problem]:
    try:
        models = VllmConfig.from_yaml(path).models
    except VllmConfigError as error:
        yield c.problem("vllm_config", str(error), "correct the file")
        return
    total = sum(model.total_num_gpus for model in models)
    if total != c.rollout_num_gpus:
        yield c.problem(
            "vllm_config rollout_num_gpus",
            f"the groups of {path} have {total} GPUs and rollout_num_gpus is {c.rollout_num_gpus}",
            f"set --rollout-num-gpus {total}",
        )


RULES = (owned, data, settings)
