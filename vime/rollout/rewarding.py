"""Rewards under a deadline: what hangs, raises or is no number is retried, and then fails, counts as zero or is dropped."""

from __future__ import annotations

import logging
import math
import numbers
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from vime.errors import travels
from vime.rollout.hooks import HookInvalid
from vime.rollout.rm_hub import RewardTypeRefused, async_rm, batched_async_rm
from vime.rollout.rm_hub.grading import GraderMissing
from vime.rollout.together import together
from vime.rollout.user_calls import UserCalls
from vime.utils.per_loop import PerLoopMeta
from vime.utils.types import Sample

logger = logging.getLogger(__name__)

_FAILED = "reward_failed"
GENERATION_FAILED = "generation_failed"
# No retry and no policy helps: what was asked for is not there.
_NO_REWARDS_AT_ALL = (RewardTypeRefused, HookInvalid, GraderMissing)
_TIMEOUT, _RETRIES, _ON_FAILURE = 120.0, 2, "fail"
_EXCERPT = 300


@travels
class RewardFailed(RuntimeError):
    """A sample got no usable reward; names it, what its reward function did, and the option to live with it."""

    def __init__(self, sample: Sample, what: str) -> None:
        super().__init__(
            f"reward of sample {sample.index} (prompt {sample.group_index}): {what}; --rm-timeout and --rm-retries set "
            "how long and how often it is tried, --rm-on-failure zero or drop goes on without it"
        )
        self.sample_index = sample.index


class RewardInvalid(RewardFailed):
    """The reward function returned something that is no finite number."""


def reward_failed(item: Any) -> bool:
    """Whether a sample got no reward, or no answer to reward, and is not trained on because of it."""
    return isinstance(item, Sample) and (_FAILED in item.metadata or GENERATION_FAILED in item.metadata)


def generation_failed(item: Any) -> bool:
    """Whether a sample's answer did not end properly, and was given up."""
    return isinstance(item, Sample) and GENERATION_FAILED in item.metadata


def give_up_on(args: Namespace, sample: Sample, kind: str, why: str) -> None:
    """Let the sample count for nothing; `metadata[kind]` says why."""
    sample.reward = _nothing(args)
    sample.remove_sample = True
    sample.metadata[kind] = why


def _nothing(args: Namespace) -> Any:
    return {args.reward_key: 0.0} if args.reward_key else 0.0


class RewardRunner(metaclass=PerLoopMeta):
    """Gives samples their rewards. One an event loop and `args`; `failures` counts what went wrong, by kind."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self.timeout: float = getattr(args, "rm_timeout", _TIMEOUT)
        self.retries: int = getattr(args, "rm_retries", _RETRIES)
        self.on_failure: str = getattr(args, "rm_on_failure", _ON_FAILURE)
        self.failures: Counter[str] = Counter()
        self._calls = UserCalls()

    async def reward_one(self, args: Namespace, sample: Sample) -> None:
        """Set `sample.reward`. Raises RewardFailed where the policy says so."""
        own = sample.custom_rm_path or args.custom_rm_path
        await self._reward(args, [sample], lambda: _alone(async_rm(args, sample)), bool(own))

    async def reward_group(self, args: Namespace, samples: Sequence[Sample]) -> None:
        """Set the rewards of several at once, in their order."""
        if args.custom_rm_path is None:
            await together(self.reward_one(args, sample) for sample in samples)
        else:
            await self._reward(args, samples, lambda: batched_async_rm(args, samples), True)

    async def _reward(
        self, args: Namespace, samples: Sequence[Sample], call: Callable[[], Coroutine[Any, Any, Any]], users: bool
    ) -> None:
        problem: Exception | None = None
        for _ in range(self.retries + 1):
            try:
                _set(args, samples, await (self._calls.run(call, self.timeout) if users else call()))
                return
            except _NO_REWARDS_AT_ALL:
                raise
            except TimeoutError:
                self.failures["reward_timeout"] += 1
                problem = RewardFailed(samples[0], f"no answer within {self.timeout:g} s")
            except RewardInvalid as error:
                self.failures["reward_invalid"] += 1
                problem = error
            except Exception as error:
                self.failures["reward_error"] += 1
                problem = RewardFailed(samples[0], _short(f"{type(error).__name__}: {error}"))
                problem.__cause__ = error
            logger.warning("%s", problem)
        self._settle(args, samples, problem)

    def _settle(self, args: Namespace, samples: Sequence[Sample], problem: Exception | None) -> None:
        self.failures["reward_failed"] += len(samples)
        if self.on_failure == "fail":
            raise problem
        for sample in samples:
            sample.reward = _nothing(args)
            if self.on_failure == "drop":
                give_up_on(args, sample, _FAILED, str(problem))


async def _alone(reward: Coroutine[Any, Any, Any]) -> list[Any]:
    return [await reward]


def _set(args: Namespace, samples: Sequence[Sample], rewards: Any) -> None:
    if len(rewards) != len(samples):
        raise RewardInvalid(samples[0], f"{len(rewards)} rewards for {len(samples)} samples")
    for sample, reward in zip(samples, rewards, strict=True):
        check_reward(sample, reward, getattr(args, "reward_key", None))
    for sample, reward in zip(samples, rewards, strict=True):
        sample.reward = reward


def check_reward(sample: Sample, reward: Any, key: str | None) -> None:
    """Raises RewardInvalid unless `reward`, or its entry `key`, is a finite number."""
    if isinstance(reward, Mapping):
        if key is None:
            return
        if key not in reward:
            raise RewardInvalid(
                sample, f"--reward-key {key} is not in it; it has {_short(', '.join(map(str, reward)))}"
            )
        reward = reward[key]
    if not _is_finite(reward):
        raise RewardInvalid(sample, f"{_short(repr(reward))} is no finite number")


def _is_finite(reward: Any) -> bool:
    try:
        return isinstance(reward, numbers.Real) and math.isfinite(reward)
    except OverflowError:
        return False


def _short(text: str) -> str:
    """What a function of the user's or a service said, which may be a whole page."""
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]} ..."
