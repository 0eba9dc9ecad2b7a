"""The place under which rollout functions of before the observability package import tracing."""

from vime.observability.trace_utils import (
    TRACE_VERSION,
    TraceHandle,
    TraceSpanContext,
    bind_trace,
    bind_trace_carrier,
    build_vllm_meta_trace_attrs,
    export_trace,
    import_trace,
    trace_event,
    trace_function,
    trace_next_attempt,
    trace_span,
)

__all__ = [
    "TRACE_VERSION",
    "TraceHandle",
    "TraceSpanContext",
    "bind_trace",
    "bind_trace_carrier",
    "build_vllm_meta_trace_attrs",
    "export_trace",
    "import_trace",
    "trace_event",
    "trace_function",
    "trace_next_attempt",
    "trace_span",
]
