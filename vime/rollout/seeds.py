"""The seed of a request: another for each sample of a run, and the same whenever that sample is asked for."""

from argparse import Namespace
from hashlib import blake2b

from vime.utils.types import Sample

_BYTES = 8


def request_seed(args: Namespace, sample: Sample, position: int, evaluation: bool = False) -> int | None:
    """Where requests are seeded (--vllm-enable-deterministic-inference): what follows from --rollout-seed and the sample.

    A sample is known by its index, which never repeats in a run and which a resumed run goes on counting; without one (a data
    source of the user's) by its prompt and its `position` in the group. A response that goes on has another seed, so that the
    same random numbers are not drawn again. At least 0 and below 2**63, what vLLM takes.
    """
    if not getattr(args, "vllm_enable_deterministic_inference", False):
        return None
    known_by = (sample.prompt, position) if sample.index is None else sample.index
    told = repr((args.rollout_seed, evaluation, known_by, sample.response_length))
    return int.from_bytes(blake2b(told.encode("utf-8", "backslashreplace"), digest_size=_BYTES).digest()) >> 1
