"""Bodies and answers of control routes whose shape differs between the engines."""

from collections.abc import Iterable, Mapping
from typing import Any

from .answer import REQUEST_PREFIX
from .errors import UnsupportedRequest

GPU_MEMORY_TYPE_WEIGHTS, GPU_MEMORY_TYPE_KV_CACHE, GPU_MEMORY_TYPE_CUDA_GRAPH = "weights", "kv_cache", "cuda_graph"
"""What sleeps and wakes, in upstream's words; vLLM knows the first two."""

_SLEEP_TAGS = (GPU_MEMORY_TYPE_WEIGHTS, GPU_MEMORY_TYPE_KV_CACHE)
_PAUSES = {"abort": "", "retract": "?mode=keep", "in_place": "?mode=keep&clear_cache=false"}


def abort_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of POST /abort_requests for an upstream abort: everything, or one request by its id."""
    rid = body.get("rid")
    if body.get("abort_all") or not rid:
        return {}
    rids = [rid] if isinstance(rid, str) else list(rid)
    return {"request_ids": [REQUEST_PREFIX + str(one) for one in rids]}


def control_call(url: str, body: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """Where to post what for an upstream body to a control route of vLLM; a body for another route stays as it is.

    Raises UnsupportedRequest for what the route cannot do.
    """
    body, route = body or {}, url.partition("?")[0].rpartition("/")[2]
    if route == "abort_requests":
        return url, dict(body) if "request_ids" in body else abort_body(body)
    if route == "pause":
        return url + pause_query(body.get("mode")), {}
    if route == "wake_up":
        return url + wake_up_query(body.get("tags")), {}
    if route == "sleep":
        if body.get("tags") and not set(_SLEEP_TAGS) <= set(body["tags"]):
            raise UnsupportedRequest("tags", "weights and KV cache sleep together")
        return url, {}
    return url, dict(body)


def pause_query(mode: str | None) -> str:
    """The query of POST /pause for upstream's mode; none for its default, which both engines share."""
    if mode is None:
        return ""
    if mode not in _PAUSES:
        raise UnsupportedRequest("mode", "no such way to pause")
    return _PAUSES[mode]


def wake_up_query(tags: Iterable[str] | None) -> str:
    """The query of POST /wake_up for upstream's tags; none, which wakes everything, where none are named.

    vLLM wakes nothing when it meets a tag that it does not know. So unknown tags are left out beside known ones, and
    sent where they are alone.
    """
    named = list(tags or ())
    known = [tag for tag in named if tag in _SLEEP_TAGS]
    return "?" + "&".join(f"tags={tag}" for tag in known or named) if named else ""


def read_load(answer: Any) -> Any:
    """The answer of GET /load in the shape of upstream's load report."""
    if not isinstance(answer, Mapping) or "server_load" not in answer:
        return answer
    return {"loads": [{"num_running_reqs": answer["server_load"], "num_waiting_reqs": 0}]}
