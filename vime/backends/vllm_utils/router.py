"""vllm-router, in front of several engines of one model. Only generation goes through it; control calls never do."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.engine_errors import PortTaken
from vime.backends.vllm_utils.launch import Launch, without_proxies
from vime.backends.vllm_utils.server import EngineServer
from vime.utils.network import find_available_port

_URLS = "--worker-urls"
_HEALTH_EVERY = 5
"""Seconds between two looks of the router at an engine."""


def router_launch(
    urls: Sequence[str],
    *,
    host: str,
    port: int,
    prometheus_port: int,
    policy: str = "consistent_hash",
    request_timeout: int = 14400,
    environ: Mapping[str, str] = os.environ,
) -> Launch:
    """The launch of a router at `host`:`port` for the engines at `urls`, which must be healthy already."""
    words = [
        *(sys.executable, "-m", "vllm_router.launch_router"),
        *("--host", host.strip("[]"), "--port", str(port)),
        *("--prometheus-host", "127.0.0.1", "--prometheus-port", str(prometheus_port)),
        *("--policy", policy, "--request-timeout-secs", str(request_timeout)),
        *("--log-level", "warning"),  # at info it logs every request
        # A failed request is the rollout's to send again, which knows whether that is right.
        *("--disable-retries", "--disable-circuit-breaker"),
        *("--health-check-interval-secs", str(_HEALTH_EVERY)),
        *(_URLS, *urls),  # the last, so that others can be put in their place
    ]
    return Launch(tuple(words), without_proxies(environ), host, port)


class RouterServer:
    """One router process: started once its engines are healthy, watched, started again at the same address."""

    def __init__(self, launch: Launch, log: Path) -> None:
        self._log = log
        self._server = EngineServer(launch, log, health_path="/liveness")

    @property
    def url(self) -> str:
        """Where it answers."""
        return self._server.url

    @property
    def host(self) -> str:
        """Its host."""
        return self._server.launch.host

    @property
    def port(self) -> int:
        """Its port."""
        return self._server.launch.port

    @property
    def pid(self) -> int | None:
        """Its process."""
        return self._server.pid

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._server.alive

    def start(self, timeout: float = 60.0) -> None:
        """Start it and wait until it answers. Raises PortTaken, EngineDied, EngineNotHealthy."""
        self._server.start()
        self._server.wait_healthy(timeout)

    def check(self) -> None:
        """Raise EngineDied if its process ended by itself."""
        self._server.check()

    def restart(self, urls: Sequence[str], timeout: float = 60.0) -> None:
        """Start it again at its address, whether it runs or not, for the engines at `urls`."""
        self.stop()
        launch = self._server.launch
        words = launch.argv[: launch.argv.index(_URLS) + 1]
        self._server = EngineServer(replace(launch, argv=(*words, *urls)), self._log, health_path="/liveness")
        self.start(timeout)

    def stop(self) -> None:
        """End it; nothing of it is left when this returns."""
        self._server.stop()


class RouterControl:
    """Which engines a router has, which may have been started here or run already."""

    def __init__(self, url: str, timeout: float = 60.0) -> None:
        self._control = EngineControl(url, timeout)

    def workers(self) -> list[str]:
        """The engines that it has."""
        return list(self._control.call("GET", "/list_workers")["urls"])

    def add(self, url: str) -> None:
        """Send requests to the engine at `url`, which must be healthy; nothing where it has it already."""
        if url not in self.workers():
            self._control.call("POST", f"/add_worker?{urlencode({'url': url})}")

    def remove(self, url: str) -> None:
        """Send no more requests to the engine at `url`."""
        if url in self.workers():
            self._control.call("POST", f"/remove_worker?{urlencode({'url': url})}")


def start_router(
    urls: Sequence[str], args: Any, log: Path, host: str = "127.0.0.1", port: int | None = None, attempts: int = 3
) -> RouterServer:
    """A router for the engines at `urls`. Without `port` a free one is found, another if it is taken meanwhile."""
    for attempt in range(attempts):
        launch = router_launch(
            urls,
            host=host,
            port=port or find_available_port(20_000),
            prometheus_port=find_available_port(29_000),
            policy=args.router_policy,
            request_timeout=args.vllm_router_request_timeout_secs,
        )
        router = RouterServer(launch, log)
        try:
            router.start()
        except PortTaken as taken:
            router.stop()
            if port is not None:
                raise PortTaken(port, "set another --vllm-router-port, or end what listens there") from taken
            if attempt == attempts - 1:
                raise
        except BaseException:
            router.stop()
            raise
        else:
            return router
    raise AssertionError("unreachable")
