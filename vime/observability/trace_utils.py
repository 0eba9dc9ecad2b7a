"""Spans of work, written down on the samples they were done for.

A sample's trace is a plain dict on the sample (`sample.trace`), so that it travels with it. Tracing never fails the
work: what cannot be traced is run untraced.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from vime.utils.types import Sample

TRACE_VERSION = 1
_META_KEYS = ("prompt_tokens", "completion_tokens", "cached_tokens", "e2e_latency", "queue_time", "weight_version")

Id = int | str | None

logger = logging.getLogger(__name__)
# The spans that are open around the running code, outermost first: (trace id, span id).
_open_spans: contextvars.ContextVar[tuple[tuple[str, str], ...]] = contextvars.ContextVar("vime_open_spans", default=())


@dataclass
class TraceHandle:
    """One sample's trace: `carrier` is the dict that holds its events."""

    trace_id: str
    carrier: dict[str, Any]
    # Whose trace it is.
    sample_id: Id = None
    group_id: Id = None
    # How often it was begun anew.
    attempt: int = 0
    parent_span_id: str | None = None


@dataclass
class TraceSpanContext:
    """An open span. What is set here stands at the span's end."""

    handles: list[TraceHandle]
    end_attrs: dict[str, Any] = field(default_factory=dict)
    end_events: list[dict[str, Any]] = field(default_factory=list)
    closed: bool = False

    def set(self, key: str, value: Any) -> TraceSpanContext:
        return self.update({key: value})

    def update(self, attrs: Mapping[str, Any] | None) -> TraceSpanContext:
        self.end_attrs |= attrs or {}
        for event in self.end_events:
            event.setdefault("attrs", {}).update(attrs or {})
        return self

    set_attr = set
    update_attrs = update


def build_vllm_meta_trace_attrs(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a span should say about a finished request, from its meta_info."""
    attrs = {key: meta[key] for key in _META_KEYS if meta.get(key) is not None}
    return attrs | {"finish_reason": meta["finish_reason"]["type"]}


def bind_trace(sample: Sample) -> TraceHandle:
    """The handle of the sample's own trace, begun if it has none."""
    sample.trace = getattr(sample, "trace", None) or {}
    return bind_trace_carrier(sample.trace, sample_id=sample.index, group_id=sample.group_index)


def bind_trace_carrier(
    carrier: dict[str, Any] | None,
    *,
    trace_id: str | None = None,
    sample_id: Id = None,
    group_id: Id = None,
    attempt: int = 0,
    parent_span_id: str | None = None,
) -> TraceHandle:
    """The handle of the trace in `carrier`; what the carrier lacks is filled in, and what is given replaces."""
    carrier = {} if carrier is None else carrier
    if "trace_id" not in carrier:
        carrier["trace_id"] = trace_id or _new_id()
    for key, value in (("version", TRACE_VERSION), ("events", []), ("attempt", attempt)):
        carrier.setdefault(key, value)
    for key, value in (("sample_id", sample_id), ("group_id", group_id)):
        carrier[key] = carrier.get(key) if value is None else value
    return TraceHandle(
        carrier["trace_id"], carrier, carrier["sample_id"], carrier["group_id"], carrier["attempt"], parent_span_id
    )


def export_trace(handle: TraceHandle) -> dict[str, Any]:
    """What another process needs to go on under this span; `import_trace` there."""
    return {
        "version": TRACE_VERSION,
        "trace_id": handle.trace_id,
        "parent_span_id": handle.parent_span_id or _parent_in(_open_spans.get(), handle.trace_id),
        "sample_id": handle.sample_id,
        "group_id": handle.group_id,
        "attempt": handle.attempt,
    }


def import_trace(payload: Mapping[str, Any], carrier: dict[str, Any] | None = None) -> TraceHandle:
    return bind_trace_carrier(carrier, **{key: value for key, value in payload.items() if key != "version"})


def trace_event(target: Any, name: str, *, attrs: Mapping[str, Any] | None = None) -> None:
    """Note that something happened."""
    for handle in _handles_of(target):
        _append(handle, "event", name, time.time(), attrs)


def trace_next_attempt(target: Any, *, attrs: Mapping[str, Any] | None = None) -> None:
    """Note that the sample is generated anew."""
    for handle in _handles_of(target):
        handle.attempt = handle.carrier["attempt"] = handle.carrier["attempt"] + 1
        trace_event(handle, "attempt_start", attrs={"attempt": handle.attempt, **(attrs or {})})


@contextmanager
def trace_span(
    target: Any, name: str, *, attrs: Mapping[str, Any] | None = None, record_error: bool = True
) -> Iterator[TraceSpanContext]:
    """A span around the block, on the trace of a sample, a handle, or a list of them.

    Inside another span of the same trace it is that one's child. An error ends the span, is noted and goes on.
    """
    outer, now = _open_spans.get(), time.time()
    span = TraceSpanContext(_handles_of(target))
    ids = [(handle, _new_id()) for handle in span.handles]
    for handle, span_id in ids:
        parent = handle.parent_span_id or _parent_in(outer, handle.trace_id)
        _append(handle, "span_start", name, now, attrs, span_id=span_id, parent_span_id=parent)
    token = _open_spans.set(outer + tuple((handle.trace_id, span_id) for handle, span_id in ids))
    try:
        yield span
    except Exception as error:
        if record_error:
            span.update({"error_type": type(error).__name__, "error_message": str(error)})
        raise
    finally:
        _open_spans.reset(token)
        now = time.time()
        span.end_events = [
            _append(handle, "span_end", name, now, span.end_attrs, span_id=span_id) for handle, span_id in ids
        ]
        span.closed = True


def trace_function(
    name: str,
    *,
    target: str | None = None,
    target_getter: Callable[..., Any] | None = None,
    attrs_getter: Callable[..., Mapping[str, Any] | None] | None = None,
    record_error: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function, asynchronous or not, with a span of its own.

    The span is on the traces of the argument called `target`, or of what `target_getter` makes of the arguments, or
    of the first argument that is a sample.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        names = list(inspect.signature(function).parameters)

        def candidates(args: tuple, kwargs: dict) -> tuple:
            if target_getter:
                return (target_getter(*args, **kwargs),)
            if target:
                return (kwargs[target] if target in kwargs else args[names.index(target)],)
            return (*args, *kwargs.values())

        def span_for(args: tuple, kwargs: dict) -> Any:
            found: Sequence[TraceHandle] = ()
            attrs: Mapping[str, Any] | None = None
            try:
                found = next(filter(None, map(_handles_of, candidates(args, kwargs))), ())
                attrs = attrs_getter(*args, **kwargs) if attrs_getter else None
            except Exception as error:
                logger.debug("%s is run untraced: %r", name, error)
            return trace_span(found, name, attrs=attrs, record_error=record_error)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def traced_async(*args: Any, **kwargs: Any) -> Any:
                with span_for(args, kwargs):
                    return await function(*args, **kwargs)

            return traced_async

        @functools.wraps(function)
        def traced(*args: Any, **kwargs: Any) -> Any:
            with span_for(args, kwargs):
                return function(*args, **kwargs)

        return traced

    return decorate


def _handles_of(target: Any) -> list[TraceHandle]:
    if isinstance(target, TraceHandle):
        return [target]
    if isinstance(target, Sample):
        return [bind_trace(target)]
    if isinstance(target, list | tuple):
        return [handle for item in target for handle in _handles_of(item)]
    return []


def _new_id() -> str:
    """32 hexadecimal digits; a third of what uuid4 costs, and there are a dozen a sample."""
    return os.urandom(16).hex()


def _parent_in(spans: tuple[tuple[str, str], ...], trace_id: str) -> str | None:
    return next((span_id for owner, span_id in reversed(spans) if owner == trace_id), None)


def _append(
    handle: TraceHandle, kind: str, name: str, at: float, attrs: Mapping[str, Any] | None, **ids: str | None
) -> dict[str, Any]:
    event = {"type": kind, "name": name, "ts": at, "trace_id": handle.trace_id, "attempt": handle.attempt}
    event |= {"sample_id": handle.sample_id, "group_id": handle.group_id}
    event |= {key: value for key, value in ids.items() if value is not None}
    if attrs:
        event["attrs"] = dict(attrs)
    handle.carrier["events"].append(event)
    return event
