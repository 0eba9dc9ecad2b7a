"""Read one streamed answer onto a sample, and see to it that it ended as it should."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from vime.backends.vllm_utils.seam import AnswerStream, Delta, StreamError
from vime.observability.trace_utils import TraceSpanContext, build_vllm_meta_trace_attrs
from vime.rollout.engine_call import FAILED
from vime.rollout.partial_sample import PartialSample
from vime.rollout.wire_shape import MalformedAnswer, check_chunk
from vime.utils import http_utils, json_bytes
from vime.utils.http_client import HttpConnectionError, HttpError, HttpStatusError
from vime.utils.sse import events

_DONE = "[DONE]"
_LAST_CHUNK_WITHIN = 0.25
"""Seconds after an abort in which the engine may still say how the request ended: it alone knows the weight version."""
_SPECULATION = ("spec_accept_token_num", "spec_draft_token_num", "spec_verify_ct")


class StreamBroken(HttpConnectionError):
    """A stream that did not end as it should: cut off, or not all of it came."""


class StreamReading:
    """One attempt. `malformed` counts events that were no chunk."""

    def __init__(
        self, partial: PartialSample, answers: AnswerStream, aborted: Callable[[], bool], span: TraceSpanContext
    ) -> None:
        self._partial, self._answers, self._aborted, self._span = partial, answers, aborted, span
        self._last: Delta | None = None
        self._usage: Mapping[str, Any] = {}
        self.malformed = 0
        self._doubtful = False

    async def read(self, url: str, headers: Mapping[str, str] | None) -> None:
        """Ask `url`, and let the sample grow until the answer has ended or the rollout is aborted.

        Raises HttpStatusError where the request is refused, in a chunk too; StreamBroken or HttpConnectionError where the
        answer did not end properly. An abort comes before these: what had arrived stays, unless something in it may be missing.
        """
        try:
            # The timeout is the abort's.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None) as limit:
                    await self._chunks(url, headers, limit)
            self._check(url)
        except HttpError:
            if not self._aborted():
                raise
        if self.malformed:
            self._span.set("malformed_events", self.malformed)
        if self._doubtful:
            self._partial.rewind()
            return
        if not self._is_trimmed():
            self._partial.decode_all()
        if self._has_ended():
            self._settle()

    async def _chunks(self, url: str, headers: Mapping[str, str] | None, limit: asyncio.Timeout) -> None:
        client, request = http_utils._http_client, self._answers.request
        async with client.stream("POST", url, json=request, headers=headers) as response:
            response.raise_for_status()
            async for data in events(response.aiter_lines()):
                if data.strip() == _DONE:
                    continue
                self._take(data, url)
                if self._aborted() and self._is_late(limit):
                    return

    def _is_late(self, limit: asyncio.Timeout) -> bool:
        """Whether the time for the last chunk has passed. A stream that is always ahead of its reader never waits, so that
        the timeout alone would not end it."""
        now = asyncio.get_running_loop().time()
        if limit.when() is None:
            limit.reschedule(now + _LAST_CHUNK_WITHIN)
        return now >= limit.when()

    def _take(self, data: str, url: str) -> None:
        chunk = _chunk(data)
        if chunk is None:
            self.malformed += 1
            self._doubtful = True
            return
        if "choices" not in chunk:
            raise _refusal(chunk["error"], url)
        self._usage = chunk.get("usage") or self._usage
        try:
            check_chunk(chunk)
            delta = self._answers.add(chunk)
        except (StreamError, MalformedAnswer) as error:
            self._doubtful = True
            raise StreamBroken(f"a chunk that is none: {error}", url) from error
        if delta is None:
            return
        if delta.finish_reason == FAILED:
            self._doubtful = True
            raise StreamBroken("the engine ended the request with an error", url)
        if self._has_ended():
            self._doubtful = True
            raise StreamBroken("more came after the end", url)
        self._partial.add(delta)
        self._last = delta

    def _is_trimmed(self) -> bool:
        """Whether what ended the text may have been cut from it."""
        by_stop = self._has_ended() and self._last.finish_reason == "stop"
        return by_stop and not self._answers.request.asked.no_stop_trim

    def _has_ended(self) -> bool:
        return self._last is not None and self._last.finish_reason is not None

    def _check(self, url: str) -> None:
        """Raises StreamBroken where there was no end, or a chunk is missing."""
        answer = self._answers.answer()
        count = 0 if answer is None else len(answer.token_ids)
        if not self._has_ended():
            lost = f", {self.malformed} event(s) of it malformed" if self.malformed else ""
            raise StreamBroken(f"the stream stopped after {count} tokens, before its end{lost}", url)
        told = self._usage.get("completion_tokens")
        if told is None and self.malformed:
            raise StreamBroken(f"{self.malformed} event(s) were malformed, and no usage says what was in them", url)
        if told is not None and told != count:
            self._doubtful = True
            raise StreamBroken(f"{count} tokens arrived of {told}; {self.malformed} event(s) were malformed", url)
        self._doubtful = False

    def _settle(self) -> None:
        """Take over how it ended."""
        answer, spans = self._answers.answer(), self._last.weight_versions
        self._partial.finish(answer)
        meta = answer["meta_info"]
        self._span.update(build_vllm_meta_trace_attrs(meta))
        self._span.update({name: meta[name] for name in _SPECULATION if name in meta})
        self._span.set("weight_versions", spans or [])


def _chunk(data: str) -> dict[str, Any] | None:
    """A decoded chunk, or the report of an error; None for what is neither."""
    try:
        chunk = json_bytes.loads(data)
    except ValueError:
        return None
    if not isinstance(chunk, dict) or not (isinstance(chunk.get("choices"), list) or chunk.get("error")):
        return None
    return chunk


def _refusal(error: Any, url: str) -> HttpStatusError:
    """An error inside a stream, as the status that it would have been."""
    code = error.get("code") if isinstance(error, Mapping) else None
    message = error.get("message", error) if isinstance(error, Mapping) else error
    return HttpStatusError(code if isinstance(code, int) and 400 <= code < 600 else 500, url, str(message))
