"""Spans on samples: what was done to a sample, when, and what came back from the engine."""

import functools
import inspect
import time
from contextlib import contextmanager
from typing import Any

from slime.utils.types import Sample

SGLANG_TRACE_META_KEYS = ("prompt_tokens", "completion_tokens", "cached_tokens", "weight_version")


def build_sglang_meta_trace_attrs(meta: dict[str, Any]) -> dict[str, Any]:
    """The part of an SGLang answer's meta_info that is worth keeping in a trace."""
    kept = {key: meta[key] for key in SGLANG_TRACE_META_KEYS if meta.get(key) is not None}
    return {**kept, "finish_reason": meta["finish_reason"]["type"]}


@contextmanager
def trace_span(target: Sample | list[Sample], name: str, attrs: dict[str, Any] | None = None):
    """Times the block and hangs the span on each sample; the caller may add attributes to the dict it gets."""
    span = dict(attrs or {})
    started = time.time()
    try:
        yield span
    finally:
        event = {"name": name, "start": started, "end": time.time(), "attrs": span}
        for sample in _flat(target):
            sample.metadata.setdefault("trace", []).append(event)


def trace_function(name: str, target: str):
    """Decorates a coroutine function; `target` names the parameter that holds the sample or the group."""

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        async def traced(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            with trace_span(bound.arguments[target], name):
                return await function(*args, **kwargs)

        return traced

    return decorate


def _flat(target):
    if not isinstance(target, list):
        return [target]
    return [sample for item in target for sample in _flat(item)]
