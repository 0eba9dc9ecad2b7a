"""Rules about files, and about options of installed packages that the framework sets itself."""

import os
from collections.abc import Iterator
from pathlib import Path

from vime.config.derive import OWN_ROLLOUTS
from vime.config.engine_groups import VllmConfig, VllmConfigError
from vime.config.owned import OWNED
from vime.config.problems import Problem
from vime.config.rules.check import Check
from vime.utils.data import DataError, check_file
from vime.utils.eval_config import EvalConfigError, eval_datasets

_READS_PROMPTS = tuple(f"vime.rollout.data_source.RolloutDataSource{more}" for more in ("", "WithBuffer"))
"""The framework's own; one of the user's may name its data as it likes."""


def owned(c: Check) -> Iterator[Problem]:
    """Two options for one thing would contradict each other."""
    for name, instead in OWNED.items():
        if c.set(name):
            yield c.problem(name, "the framework sets it", f"use {instead}" if instead else "leave it out")


def data(c: Check) -> Iterator[Problem]:
    """Data that is not there yet is worth a word."""
    for name, path in _data_files(c):
        file = path.split("@[")[0]
        if not Path(file).exists():
            yield c.warning(name, f"{file} does not exist", "write it before training starts")


def data_is_there(c: Check) -> Iterator[Problem]:
    """For a run that begins now: the files that it reads are there."""
    evaluates = c.eval_interval is not None and not c.debug_train_only and c.eval_function_path in OWN_ROLLOUTS
    read = {"prompt_data": c.data_source_path in _READS_PROMPTS and c.rollout_global_dataset}
    for name, path in _data_files(c):
        if read.get(name, evaluates):
            try:
                check_file(path)
            except DataError as error:
                yield c.problem(name, f"{error.where}: {error.what}", error.fix)


def _data_files(c: Check) -> Iterator[tuple[str, str]]:
    """The option that names each data file, and the file."""
    if c.prompt_data:
        yield "prompt_data", c.prompt_data
    try:
        yield from (("eval_config" if c.eval_config else "eval_prompt_data", one.path) for one in eval_datasets(c.args))
    except EvalConfigError:  # told by the rule about sets
        return


_WRITTEN = ("save", "save_hf", "run_dir", "dump_details")


def written(c: Check) -> Iterator[Problem]:
    """What a run writes hours later has a place that it can write to."""
    for name in _WRITTEN:
        path = getattr(c, name)
        if path is None:
            continue
        whole = Path(path).absolute()
        folder = next(one for one in (whole, *whole.parents) if os.access(one, os.F_OK))
        if not folder.is_dir():
            yield c.problem(name, f"{folder} is no folder", "choose another")
        elif not os.access(folder, os.W_OK | os.X_OK):
            yield c.problem(name, f"{folder} cannot be written to", "choose another folder, or make it writable")


def settings(c: Check) -> Iterator[Problem]:
    """The file of --vllm-config, which is read at the start."""
    path = c.vllm_config
    if path and not Path(path).is_file():
        yield c.problem("vllm_config", f"there is no file {path}", "name one, or leave it out")
    elif path:
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


RULES = (owned, data, written, settings)
