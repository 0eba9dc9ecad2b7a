"""Rules about generating beside training."""

from collections.abc import Iterator

from vime.config.derive import FULLY_ASYNC
from vime.config.problems import Problem
from vime.config.rules.check import Check


def engines_of_its_own(c: Check) -> Iterator[Problem]:
    """Who generates while the trainer trains has engines that are awake then."""
    if c.rollout_function_path != FULLY_ASYNC:
        return
    for name in ("colocate", "offload_rollout"):
        if getattr(c, name):
            yield c.problem(
                f"{name} rollout_function_path",
                "engines generate while the trainer trains, and cannot lend it their memory",
                "leave it out, and give the engines GPUs of their own with --rollout-num-gpus",
            )
            return


RULES = (engines_of_its_own,)
