"""Ask an engine, and again where one died: generating has no effect on the engine, so asking twice is safe."""

from __future__ import annotations

import asyncio
import logging
import time
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vime.errors import travels
from vime.rollout.wire_shape import check_answer
from vime.utils.http_client import HttpConnectionError, HttpError, HttpStatusError, RetryPolicy
from vime.utils.types import Sample

logger = logging.getLogger(__name__)

FAILED = "error"
"""vLLM's finish reason of a request that it failed at."""
# The router has no engine that works, or not enough of them, for now.
_UNAVAILABLE = frozenset({408, 429, 502, 503, 504})


@travels
class GenerationFailed(RuntimeError):
    """No engine answered a sample's request; says how often and how long it was tried, and what came of it last."""

    def __init__(self, sample: Any, asked: int, seconds: float, cause: HttpError) -> None:
        super().__init__(
            f"sample {sample}: no engine answered in {asked} attempt(s) and {seconds:.0f} s, last: {cause}; the engine's "
            "log says why it ended; --rollout-engine-patience and --rollout-request-attempts set how long to try"
        )
        self.sample = sample


@dataclass(frozen=True)
class Patience:
    """How long to go on asking. `attempts` bounds the requests that an engine took and broke off or failed at, so that a
    request which kills engines ends; `seconds` bounds the waiting for one that takes requests, a restart included."""

    attempts: int = 4
    seconds: float = 300.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    @staticmethod
    def of(args: Namespace) -> Patience:
        return Patience(
            attempts=getattr(args, "rollout_request_attempts", Patience.attempts),
            seconds=getattr(args, "rollout_engine_patience", Patience.seconds),
        )


async def ask(
    send: Callable[..., Awaitable[Any]],
    url: str,
    request: Mapping[str, Any],
    *,
    headers: Mapping[str, str] | None,
    patience: Patience,
    sample: Any,
) -> Any:
    """The answer of `send(url, request, max_retries=1, headers=...)`, or None where `send` took care of it itself. A
    refused request (4xx) raises HttpStatusError at once, and what is no answer MalformedAnswer; an engine that is not
    there, or is there no more, GenerationFailed when the patience has run out."""
    began, broken, asked = time.monotonic(), 0, 0
    waiting_since = began
    while True:
        asked += 1
        try:
            answer = await send(url, request, max_retries=1, headers=headers)
            if answer is not None:
                _raise_if_failed(answer, url)
                check_answer(answer)
            return answer
        except HttpError as error:
            if not _may_pass(error):
                raise
            now = time.monotonic()
            if not never_arrived(error):
                # The time that an engine generated is none that one was waited for.
                broken, waiting_since = broken + 1, now
            if broken >= patience.attempts or now - waiting_since >= patience.seconds:
                raise GenerationFailed(sample, asked, now - began, error) from error
            logger.info("sample %s, attempt %d: %s", sample, asked, error)
        await asyncio.sleep(patience.retry.delay(asked - 1))


def affinity(args: Namespace, sample: Sample) -> dict[str, str] | None:
    """The header by which the router keeps a sample's requests on one engine, so that its prefix is cached there."""
    if sample.session_id and getattr(args, "router_policy", None) == "consistent_hash":
        return {"x-session-id": sample.session_id}
    return None


def _raise_if_failed(answer: Any, url: str) -> None:
    """An answer of status 200 in which the engine says that it failed is a failure of the server's."""
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    choices = choices if isinstance(choices, list) else []
    if any(isinstance(one, Mapping) and one.get("finish_reason") == FAILED for one in choices):
        raise HttpStatusError(500, url, "the engine ended the request with an error")


def _may_pass(error: HttpError) -> bool:
    if isinstance(error, HttpStatusError):
        return error.status_code >= 500 or error.status_code in _UNAVAILABLE
    return isinstance(error, HttpConnectionError)


def never_arrived(error: HttpError) -> bool:
    """Whether no engine took the request."""
    if isinstance(error, HttpStatusError):
        return error.status_code in _UNAVAILABLE
    return isinstance(error.__cause__, ConnectionRefusedError) or "Connector" in type(error.__cause__).__name__
