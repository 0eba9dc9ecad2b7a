"""Control calls to one engine: synchronous, straight to it (a router would tell only one of several), typed when they fail.

A system proxy is never used. The engine answers some calls with status 200 and "no" in the body; that is a failure here.
"""

import http.client
import json
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from vime.backends.vllm_utils.engine_errors import EngineCallFailed
from vime.backends.vllm_utils.seam import abort_body, control_call, pause_query, wake_up_query

LONG = 1800.0
"""Seconds that a call may take which waits for weights."""
_EXCERPT = 1000
_RESET_AGAIN_AFTER = 0.05


class EngineControl:
    """The control calls of the engine at `url`. `timeout` is how many seconds each may take unless it is told otherwise."""

    def __init__(self, url: str, timeout: float = 60.0) -> None:
        self.url, self.timeout = url.rstrip("/"), timeout

    def healthy(self, timeout: float = 5.0) -> bool:
        """Whether it answers; also while it is paused."""
        try:
            self.call("GET", "/health", timeout=timeout)
        except EngineCallFailed:
            return False
        return True

    def pause(self, mode: str | None = None) -> None:
        """Stop generating. `mode` is upstream's: abort (the default), retract, or in_place. New requests wait."""
        self.call("POST", "/pause" + pause_query(mode))

    def resume(self) -> None:
        """Go on generating."""
        self.call("POST", "/resume")

    def is_paused(self) -> bool:
        """Whether it is paused."""
        return bool(self._field(self.call("GET", "/is_paused"), "/is_paused", "is_paused"))

    def abort_all(self) -> int:
        """Cut every request short, waiting ones too; how many there were. Their answers come with what they had."""
        return int(self.call("POST", "/abort_requests", {})["aborted"])

    def abort(self, request_ids: Iterable[str]) -> None:
        """Cut requests short, by the ids that they were sent with. An id that is not known is no error to the engine."""
        self.call("POST", "/abort_requests", abort_body({"rid": list(request_ids)}))

    def load(self) -> int:
        """How many requests it has, running and waiting."""
        return int(self._field(self.call("GET", "/load"), "/load", "server_load"))

    def reset_prefix_cache(self, timeout: float = 10.0) -> None:
        """Forget cached prefixes. While requests hold blocks it is tried again, for `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not self._field(answer := self.call("POST", "/reset_prefix_cache"), "/reset_prefix_cache", "success"):
            if time.monotonic() > deadline:
                raise EngineCallFailed(self.url, "/reset_prefix_cache", 200, f"requests still hold blocks: {answer}")
            time.sleep(_RESET_AGAIN_AFTER)

    def world_size(self) -> int:
        """How many workers it has, those of all its data-parallel replicas."""
        return int(self._field(self.call("GET", "/get_world_size"), "/get_world_size", "world_size"))

    def init_weight_transfer_engine(self, info: Mapping[str, Any], timeout: float = LONG) -> None:
        """Join the group by which weights arrive; returns once every rank of it has joined."""
        self.call("POST", "/init_weight_transfer_engine", {"init_info": dict(info)}, timeout)

    def shutdown_weight_transfer_engine(self) -> None:
        """Leave that group."""
        self.call("POST", "/shutdown_weight_transfer_engine")

    def start_weight_update(self) -> None:
        """Open a session. The engine must be paused: from here to the end of the session it cannot generate."""
        self.call("POST", "/start_weight_update", timeout=LONG)

    def update_weights(self, info: Mapping[str, Any], timeout: float = LONG) -> None:
        """Take one bucket; returns once it has arrived."""
        self.call("POST", "/update_weights", {"update_info": dict(info)}, timeout)

    def finish_weight_update(self, version: str | None = None, timeout: float = LONG) -> None:
        """Close the session: what was sent counts from now on, as `version`."""
        self.call("POST", "/finish_weight_update", {} if version is None else {"weight_version": str(version)}, timeout)

    def update_weight_version(self, version: str) -> None:
        """Name the weights that it has."""
        self.call("POST", "/update_weight_version", {"new_version": str(version)})

    def weight_version(self) -> str:
        """The name of the weights that it has; "default" before the first update."""
        return str(self._field(self.call("GET", "/weight_info"), "/weight_info", "weight_version"))

    def collective_rpc(self, method: str, kwargs: Mapping[str, Any] | None = None, timeout: float = LONG) -> list[Any]:
        """Call a method of every worker; what each returned. `timeout` bounds it there, too."""
        body = {"method": method, "kwargs": dict(kwargs or {}), "timeout": timeout}
        return list(self.call("POST", "/collective_rpc", body, timeout)["results"])

    def sleep(self, level: int = 1) -> None:
        """Free its memory: 1 keeps the weights in the host's memory, 2 drops them. It pauses by itself."""
        self.call("POST", f"/sleep?{urlencode({'level': level})}")

    def wake_up(self, tags: Iterable[str] | None = None) -> None:
        """Take memory again: weights, KV cache, or, without `tags`, all. With the last of them it resumes by itself."""
        self.call("POST", "/wake_up" + wake_up_query(tags))

    def server_info(self) -> dict[str, Any]:
        """Its configuration, as vLLM tells it."""
        return self.call("GET", "/server_info?config_format=json")

    def upstream_call(self, endpoint: str, body: Mapping[str, Any] | None = None, timeout: float | None = None) -> Any:
        """POST a body of upstream's shape to a control route."""
        url, sent = control_call(f"{self.url}/{endpoint.lstrip('/')}", body)
        return self.call("POST", url.removeprefix(self.url), sent, timeout)

    def call(self, method: str, path: str, body: Any = None, timeout: float | None = None) -> Any:
        """One request; the answer, decoded from JSON where it is some. Raises EngineCallFailed."""
        call = path.partition("?")[0]
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=timeout or self.timeout)
        sent = None if body is None else json.dumps(body)
        try:
            connection.request(method, path, sent, {"Content-Type": "application/json"} if sent else {})
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise EngineCallFailed(self.url, call, None, f"{type(error).__name__} {error}".strip()) from error
        finally:
            connection.close()
        if response.status >= 400:
            raise EngineCallFailed(self.url, call, response.status, text[:_EXCERPT])
        try:
            return json.loads(text)
        except ValueError:
            return text

    def _field(self, answer: Any, call: str, name: str) -> Any:
        if not isinstance(answer, Mapping) or name not in answer:
            raise EngineCallFailed(self.url, call, 200, f"no {name} in the answer {str(answer)[:_EXCERPT]}")
        return answer[name]
