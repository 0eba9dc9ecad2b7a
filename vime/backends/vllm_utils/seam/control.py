"""Bodies and answers of control routes whose shape differs between the engines."""

from collections.abc import Iterable, Mapping
from typing import Any

from .answer import REQUEST_PREFIX

_SLEEP_TAGS = ("weights", "kv_cache")


def abort_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of POST /abort_requests for an upstream abort: everything, or one request by its id."""
    rid = body.get("rid")
    if body.get("abort_all") or not rid:
        return {}
    rids = [rid] if isinstance(rid, str) else list(rid)
    return {"request_ids": [REQUEST_PREFIX + str(one) for one in rids]}


def wake_up_query(tags: Iterable[str] | None) -> str:
    """The query of POST /wake_up for upstream's tags. vLLM wakes nothing when it meets a tag that it does not know."""
    known = [tag for tag in tags or () if tag in _SLEEP_TAGS]
    return "?" + "&".join(f"tags={tag}" for tag in known) if known else ""


def read_load(answer: Any) -> Any:
    """The answer of GET /load in the shape of upstream's load report."""
    if not isinstance(answer, Mapping) or "server_load" not in answer:
        return answer
    return {"loads": [{"num_running_reqs": answer["server_load"], "num_waiting_reqs": 0}]}
