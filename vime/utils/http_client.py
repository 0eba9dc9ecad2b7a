"""An HTTP client for engines on the cluster's own network.

It has the calls of httpx that rollout code relies on (`stream(...)` with `raise_for_status()` and `aiter_lines()`)
and is built on aiohttp, which needs a tenth of the CPU time a request. One pool of connections per event loop, opened at
the first request in a loop and closed when the loop shuts down. Proxies of the environment are never used. aiohttp is
imported at the first request: commands that only check a configuration load rollout functions too, and answer at once.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vime.errors import travels
from vime.utils import json_bytes
from vime.utils.lines import LineSplitter

if TYPE_CHECKING:
    import aiohttp

logger = logging.getLogger(__name__)

_EXCERPT = 500
# Besides 5xx: the request timed out at the server, or it asks to come back later.
_TRANSIENT = frozenset({408, 429})
_JSON = {"Content-Type": "application/json"}


@travels
class HttpError(Exception):
    """A request that got no usable answer. `url` carries neither credentials nor query."""

    def __init__(self, what: str, url: str) -> None:
        super().__init__(f"{what} ({public_url(url)})")
        self.url = public_url(url)


class HttpStatusError(HttpError):
    """The server answered with an error status; `body` is the beginning of what it said."""

    def __init__(self, status_code: int, url: str, body: str) -> None:
        super().__init__(f"HTTP {status_code}: {body[:_EXCERPT]}", url)
        self.status_code = status_code
        self.body = body[:_EXCERPT]


class HttpConnectionError(HttpError, ConnectionError):
    """The server could not be reached, or the connection broke before the answer was complete."""


@dataclass(frozen=True)
class RetryPolicy:
    """Waiting times between attempts: doubled from `first` up to `ceiling` seconds, each shortened by up to half."""

    first: float = 0.1
    ceiling: float = 1.0

    def delay(self, attempt: int) -> float:
        return min(self.first * 2 ** min(attempt, 16), self.ceiling) * random.uniform(0.5, 1.0)


class StreamResponse:
    """An answer that is still arriving."""

    def __init__(self, response: aiohttp.ClientResponse, url: str, error_body: str) -> None:
        self._response = response
        self._url = url
        self._error_body = error_body

    @property
    def status_code(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    def raise_for_status(self) -> None:
        if self.status_code >= 400:
            raise HttpStatusError(self.status_code, self._url, self._error_body)

    async def aiter_lines(self) -> AsyncIterator[str]:
        """The lines of the body without their ends, as soon as each is complete, however the network cut them."""
        lines = LineSplitter()
        while True:
            with _typed_errors(self._url):
                data = await self._response.content.readany()
            if not data:
                break
            for line in lines.feed(data):
                yield line
        for line in lines.close():
            yield line


class HttpClient:
    """Requests with retries, from any number of event loops.

    `max_connections` bounds the connections of each loop's pool; 0 is no bound.
    """

    def __init__(self, max_connections: int = 0, retry: RetryPolicy | None = None) -> None:
        self.max_connections = max_connections
        self._retry = retry or RetryPolicy()
        self._pools: dict[asyncio.AbstractEventLoop, tuple[aiohttp.ClientSession, AsyncIterator]] = {}

    async def post(
        self, url: str, payload: Any, max_retries: int = 60, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The answer to a POST of `payload` as JSON, itself decoded from JSON, or as text where it is none.

        At most `max_retries` attempts: an unreachable server and 5xx are tried again, a refused request (4xx) is not.
        Raises HttpStatusError or HttpConnectionError.
        """
        return await self._request(
            "POST", url, max_retries, headers, json_bytes.dumps({} if payload is None else payload)
        )

    async def get(self, url: str, max_retries: int = 1, headers: Mapping[str, str] | None = None) -> Any:
        """The answer to a GET, decoded as `post` does."""
        return await self._request("GET", url, max_retries, headers, None)

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[StreamResponse]:
        """Send once and hand the answer over while it arrives; leaving the block early closes the connection."""
        session = await self._session()
        with _typed_errors(url):
            response = await session.request(method, url, json=json, headers=headers)
        try:
            with _typed_errors(url):
                error_body = await response.text(errors="replace") if response.status >= 400 else ""
            yield StreamResponse(response, url, error_body)
        finally:
            response.close()

    async def aclose(self) -> None:
        """Close the running loop's pool."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool[1].aclose()

    async def _request(
        self, method: str, url: str, attempts: int, headers: Mapping[str, str] | None, body: bytes | None
    ) -> Any:
        session = await self._session()
        if body is not None:
            headers = {**_JSON, **(headers or {})}
        for attempt in range(max(attempts, 1)):
            try:
                return await _once(session, method, url, headers, body)
            except HttpError as error:
                if attempt + 1 >= attempts or not _worth_another_try(error):
                    raise
                logger.info("attempt %d of %d failed: %s", attempt + 1, attempts, error)
            await asyncio.sleep(self._retry.delay(attempt))
        raise AssertionError("unreachable")

    async def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            for stale in [other for other in self._pools if other.is_closed()]:
                del self._pools[stale]
            # An event loop closes its asynchronous generators when it shuts down, and the pool with them.
            scope = _session_scope(self.max_connections)
            self._pools[loop] = (await anext(scope), scope)
        return self._pools[loop][0]


async def _session_scope(max_connections: int) -> AsyncIterator[aiohttp.ClientSession]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=max_connections)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session:
        yield session


async def _once(
    session: aiohttp.ClientSession, method: str, url: str, headers: Mapping[str, str] | None, body: bytes | None
) -> Any:
    with _typed_errors(url):
        async with session.request(method, url, data=body, headers=headers) as response:
            answer = await response.read()
    if response.status >= 400:
        raise HttpStatusError(response.status, url, answer.decode("utf-8", "replace"))
    try:
        return json_bytes.loads(answer)
    except ValueError:
        return answer.decode("utf-8", "replace")


@contextmanager
def _typed_errors(url: str) -> Iterator[None]:
    import aiohttp

    try:
        yield
    except aiohttp.InvalidURL as error:
        raise HttpError("not a URL", url) from error
    except (aiohttp.ClientError, OSError) as error:
        raise HttpConnectionError(f"no complete answer: {type(error).__name__}", url) from error


def _worth_another_try(error: HttpError) -> bool:
    if isinstance(error, HttpStatusError):
        return error.status_code >= 500 or error.status_code in _TRANSIENT
    return isinstance(error, HttpConnectionError)


def public_url(url: str) -> str:
    """`url` without what must not be logged: user, password, query and fragment."""
    parts = urlsplit(str(url))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
