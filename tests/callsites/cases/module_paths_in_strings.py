"""Dotted paths and environment names are strings that must resolve on our side."""

import importlib
import os

from slime.utils.misc import load_function


async def generate(args, sample, sampling_params):
    sample.metadata["loaded"] = load_function("slime.utils.misc.group_by")([1, 1, 2])
    module = importlib.import_module("slime.utils.misc")
    sample.metadata["chunks"] = callable(module.chunk_named_params_by_size)
    os.environ["SLIME_CASE_FLAG"] = "1"
    sample.metadata["flag"] = os.environ.pop("SLIME_CASE_FLAG")
    return sample
