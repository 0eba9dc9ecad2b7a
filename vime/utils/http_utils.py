"""Requests to engines and routers: the names that rollout code imports.

`post`, `get` and `_http_client` are looked up when they are called, so that a test or a deployment can put another
client in their place. Importing this module opens nothing.
"""

import logging
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from vime.utils.http_client import HttpClient, HttpConnectionError, HttpError, HttpStatusError, RetryPolicy
from vime.utils.network import (
    VIME_HOST_IP_ENV,
    find_available_port,
    get_host_info,
    is_port_available,
    terminate_process,
    wrap_ipv6,
)

__all__ = [
    "VIME_HOST_IP_ENV",
    "HttpClient",
    "HttpConnectionError",
    "HttpError",
    "HttpStatusError",
    "RetryPolicy",
    "find_available_port",
    "get",
    "get_host_info",
    "get_rollout_num_engines",
    "init_http_client",
    "is_port_available",
    "post",
    "run_router",
    "terminate_process",
]

logger = logging.getLogger(__name__)

_wrap_ipv6 = wrap_ipv6
_http_client = HttpClient()


def init_http_client(args: Namespace) -> None:
    """Bound the connections by what the engines serve at once. Without engines the unbounded client stays."""
    global _http_client
    engines = get_rollout_num_engines(args)
    if engines == 0:
        return
    limit = args.vllm_server_concurrency * engines
    if _http_client.max_connections != limit:
        _http_client = HttpClient(max_connections=limit)


def get_rollout_num_engines(args: Namespace) -> int:
    """How many engines stand behind the router; 0 when the run has none."""
    explicit = getattr(args, "rollout_num_engines", None)
    if explicit is not None:
        return int(explicit)
    gpus = getattr(args, "rollout_num_gpus", None) or 0
    per_engine = getattr(args, "rollout_num_gpus_per_engine", None) or 1
    return max(1, gpus // per_engine) if gpus > 0 else 0


async def post(url: str, payload: Any, max_retries: int = 60, headers: Mapping[str, str] | None = None) -> Any:
    """POST `payload` as JSON; see HttpClient.post for retries and errors."""
    return await _http_client.post(url, payload, max_retries, headers=headers)


async def get(url: str) -> Any:
    """GET `url` once and decode the JSON."""
    return await _http_client.get(url)


def run_router(args: Any) -> int:
    """Run vllm-router in this process until it ends; its exit status. For `multiprocessing.Process(target=...)`."""
    from vllm_router.launch_router import launch_router

    try:
        return 0 if launch_router(args) is not None else 1
    except Exception:
        logger.exception("the router ended with an error")
        return 1
