# Copyright (c) the slime authors. Derived from slime, https://github.com/THUDM/slime/blob/main/LICENSE.
# ported from sglang (sgl-project/sglang#1234)
"""What a port says about its origin stays true: adapted from THUDM/slime, see sgl-project/sglang#6 and lmsysorg/sglang."""

from slime.utils.types import Sample

DOCS = {"router": "https://docs.sglang.ai/router", "issue": "THUDM/slime#1920"}
DEFAULT = "slime.rollout.sglang_rollout.generate_rollout"


async def generate(args, sample: Sample, sampling_params):
    sample.metadata["docs"] = DOCS
    return sample
