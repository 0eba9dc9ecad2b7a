"""The pool: as many calls at once as it has places, from threads or from an event loop."""

import asyncio
import os
import queue
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from vime.sandbox.call import Call
from vime.sandbox.protections import protections
from vime.sandbox.records import MODES, Limits, Mode, Protection, Result
from vime.sandbox.zygotes import ZygoteProcess


class Sandbox:
    """Runs untrusted Python. SandboxRefused at once where the system doesn't allow `mode`.

    `places` calls run at a time, whoever makes them; the others wait. `packages` are folders of modules that the code may
    import, and `preload` names modules that are imported before any code runs, once. `limits` hold for calls that bring none.
    """

    def __init__(
        self,
        mode: Mode = "namespaces",
        *,
        places: int | None = None,
        limits: Limits | None = None,
        packages: Sequence[str] = (),
        preload: Sequence[str] = (),
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"{mode!r} is no mode of the sandbox; there are {', '.join(MODES)}")
        self.mode, self.places, self.limits = mode, places or os.cpu_count() or 1, limits or Limits()
        self._packages, self._preload = tuple(map(str, packages)), tuple(preload)
        self._free: queue.LifoQueue[ZygoteProcess | None] = queue.LifoQueue()
        for _ in range(self.places - 1):
            self._free.put(None)  # started when it is needed
        self._free.put(self._new())
        self._closed = False
        self._threads = ThreadPoolExecutor(self.places, thread_name_prefix="sandbox")

    def run(self, code: str, stdin: str = "", limits: Limits | None = None) -> Result:
        """Run `code` as a program, and wait for its end. Nothing that the code does raises here."""
        return self._run(code, stdin, limits or self.limits, Call())

    async def run_async(self, code: str, stdin: str = "", limits: Limits | None = None) -> Result:
        """As `run`, from an event loop. Cancelling it ends the code."""
        call = Call()
        done = asyncio.get_running_loop().run_in_executor(
            self._threads, self._run, code, stdin, limits or self.limits, call
        )
        try:
            return await done
        except asyncio.CancelledError:
            call.give_up()
            raise

    def protections(self) -> tuple[Protection, ...]:
        """What this sandbox keeps out, and what it doesn't."""
        return protections(self.mode)

    def close(self) -> None:
        """End every process of the sandbox; calls that run end first. There are no calls after it."""
        if self._closed:
            return
        self._closed = True
        self._threads.shutdown()
        for _ in range(self.places):
            zygote = self._free.get()
            if zygote is not None:
                zygote.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, code: str, stdin: str, limits: Limits, call: Call) -> Result:
        if self._closed:
            raise RuntimeError("the sandbox is closed")
        zygote = self._free.get()
        try:
            if call.given_up:
                return Result("", "", None, "cancelled", 0.0)
            zygote = zygote or self._new()
            result = zygote.run(code, stdin, limits, call)
            if result.reason == "lost":
                zygote.close()
                zygote = None
            return result
        except BaseException:  # Ctrl-C: what it runs must not be taken for the next call
            if zygote is not None:
                zygote.close()
                zygote = None
            raise
        finally:
            self._free.put(zygote)

    def _new(self) -> ZygoteProcess:
        return ZygoteProcess(self.mode, self._packages, self._preload)
