import asyncio

from slime.utils.misc import load_function

from .f1 import f1_score
from .math_dapo_utils import compute_score
from .math_utils import grade_answer


async def async_rm(args, sample, **kwargs):
    """The reward of one sample, by the user's own function or by the one that --rm-type names."""
    if args.custom_rm_path is not None:
        return await load_function(args.custom_rm_path)(args, sample, **kwargs)
    if args.rm_type == "dapo":
        return compute_score(sample.response, sample.label)
    if args.rm_type == "math":
        return 1.0 if grade_answer(sample.response, sample.label) else 0.0
    if args.rm_type == "f1":
        return f1_score(sample.response, sample.label)
    raise NotImplementedError(f"no reward model is called {args.rm_type!r}")


async def batched_async_rm(args, samples, **kwargs):
    return await asyncio.gather(*(async_rm(args, sample, **kwargs) for sample in samples))
