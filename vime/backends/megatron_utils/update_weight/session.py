"""A sync: pause, open, send, close under the new version, clear the prefix cache, resume; on every engine.

Either every engine confirms the new version; or those that took nothing serve the old one again, if they served before, an
engine that took a part stays paused, and WeightSyncFailed says which engine holds what.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from vime.backends.megatron_utils.update_weight.engines import Delivery, Engine, Tensors, Transport, both, on_all
from vime.backends.megatron_utils.update_weight.failures import Holds, WeightSyncFailed, WrongVersion, WrongWeights
from vime.backends.megatron_utils.update_weight.plan import WeightPlan
from vime.backends.vllm_utils.weight_transfer.digests import recorded

logger = logging.getLogger(__name__)

INCOMPLETE = "incomplete:"
"""An engine is labelled so while it takes new weights: whoever finds the label knows that it must not serve."""


@dataclass(frozen=True)
class SyncReport:
    """A sync that every engine confirmed. `seconds` from the pause to the resume, `step_seconds` of each step of it:
    stage (beside stop and begin), stop, begin, send, commit and serve."""

    version: str
    nbytes: int
    seconds: float
    step_seconds: Mapping[str, float]
    engines: int
    sent_again: tuple[str, ...] = ()


class WeightSync:
    """Brings the trainer's weights to the engines at `urls`. One thread uses it at a time.

    `pause_mode` is what becomes of requests that run: abort, retract or in_place. With `compare_in`, the engines' dtype
    (`float32`, ..), what each engine computes with is compared with what was sent, before it serves. Calls to an
    engine take at most `timeout` seconds, those that wait for weights as long as EngineControl lets them.
    """

    def __init__(
        self,
        urls: Sequence[str],
        transport: Transport,
        *,
        bucket_bytes: int = 512 * 1024**2,
        pause_mode: str = "abort",
        compare_in: str | None = None,
        timeout: float = 300.0,
        control: Callable[[str], Engine] | None = None,
    ) -> None:
        self.bucket_bytes = min(bucket_bytes, transport.bucket_limit)
        self._transport, self._pause_mode, self._compare_in = transport, pause_mode, compare_in
        self._engines = [control(url) if control else _control(url, timeout) for url in urls]

    def connect(self) -> None:
        """Prepare the way to every engine. Raises what the first failing engine said."""
        self._transport.connect(self._engines)

    def close(self) -> None:
        """Give up connections and files."""
        self._transport.close()

    def update(self, tensors: Tensors, plan: WeightPlan, version: str) -> SyncReport:
        """Bring `tensors`, which follow `plan`, to every engine under `version`.

        Where `tensors` can be iterated again, engines whose update failed are sent everything once more.
        Raises WeightSyncFailed. What interrupts the trainer itself travels, with a note of what the engines hold.
        """
        update = _Update(self._engines, self._transport, self._pause_mode, self._compare_in, version)
        return update.run(tensors, plan)


class _Update:
    """One sync. Knows at every moment what each engine holds."""

    def __init__(
        self, engines: Sequence[Engine], transport: Transport, pause_mode: str, compare_in: str | None, version: str
    ) -> None:
        self._engines, self._transport, self._pause_mode, self._version = engines, transport, pause_mode, version
        self._compare_in = compare_in
        self._sent: dict[str, str] = {}
        """Digests of what was sent."""
        self._labels: dict[str, str] = {}
        """The version of each engine before."""
        self._causes: dict[str, BaseException] = {}
        self._served: set[str] = set()
        """Engines that were not paused before; another, as one that was started again, may have weights of long ago."""
        self._begun: set[str] = set()
        self._touched: set[str] = set()
        self._complete: set[str] = set()
        self._serving: set[str] = set()
        self._step_seconds: Counter[str] = Counter()

    def run(self, tensors: Tensors, plan: WeightPlan) -> SyncReport:
        began = time.monotonic()
        again: tuple[str, ...] = ()
        try:
            with ThreadPoolExecutor(1, thread_name_prefix="weight-sync") as pool:
                # The trainer packs its first buckets while the engines stop.
                ready = pool.submit(
                    lambda: self._all(self._engines, self._stop) and self._all(self._engines, self._begin)
                )
                staged = self._staged(tensors, plan)
                # Here, since leaving the block does not wait any more once it is interrupted.
                stopped = ready.result()
            if stopped:
                failed = self._round(self._engines, staged, plan)
                if failed and not isinstance(tensors, Iterator):
                    again = tuple(engine.url for engine in failed)
                    logger.warning("weight version %s is sent again to %s", self._version, ", ".join(again))
                    self._all(failed, self._begin)
                    staged = self._staged(tensors, plan)
                    self._round([engine for engine in failed if engine.url not in self._causes], staged, plan)
                self._all([engine for engine in self._engines if engine.url in self._complete], self._serve)
        except BaseException as error:
            self._causes["trainer"] = error
            failure = self._settled()
            if isinstance(error, Exception):
                raise failure from error
            error.add_note(str(failure))
            raise
        if self._causes:
            failure = self._settled()
            raise failure from next(iter(self._causes.values()))
        seconds = time.monotonic() - began
        return SyncReport(self._version, plan.nbytes, seconds, dict(self._step_seconds), len(self._engines), again)

    def _staged(self, tensors: Tensors, plan: WeightPlan) -> Any:
        if self._compare_in is not None:
            tensors = recorded(tensors, self._compare_in, self._sent)
        with self._timed("stage"):
            return self._transport.stage(tensors, plan)

    def _round(self, engines: Sequence[Engine], staged: Any, plan: WeightPlan) -> list[Engine]:
        """Send everything to `engines` and close their updates; those it failed at."""
        delivery = Delivery(self._touched)
        with self._timed("send"):
            self._transport.send(engines, staged, plan, delivery)
        self._causes |= delivery.failed
        self._all([engine for engine in engines if engine.url not in delivery.failed], self._commit)
        return [engine for engine in engines if engine.url in self._causes]

    def _all(self, engines: Sequence[Engine], step: Callable[[Engine], None]) -> bool:
        """One step on all `engines` at once; whether it succeeded everywhere. What failed is a cause until it succeeds."""
        with self._timed(step.__name__.lstrip("_")):
            answers, failures = on_all(engines, step)
        for url in answers:
            self._causes.pop(url, None)
        self._causes |= failures
        return not failures

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self._step_seconds[step] += time.monotonic() - began

    def _stop(self, engine: Engine) -> None:
        if not engine.is_paused():
            self._served.add(engine.url)
        _, label = both(lambda: engine.pause(self._pause_mode), engine.weight_version)
        self._labels[engine.url] = label
        if label.startswith(INCOMPLETE):
            self._touched.add(engine.url)

    def _begin(self, engine: Engine) -> None:
        self._begun.add(engine.url)
        if engine.url in self._touched:
            # Layers that a failed send left open count what they have as loaded, and would mix it with what comes.
            self._transport.cancel(engine)
        both(lambda: self._transport.begin(engine), lambda: engine.update_weight_version(INCOMPLETE + self._version))

    def _commit(self, engine: Engine) -> None:
        self._transport.commit(engine, self._version)
        found = engine.weight_version()
        if found != self._version:
            raise WrongVersion(f"{engine.url} says it holds version {found!r}, not {self._version!r}")
        if self._compare_in is not None:
            compare(self._sent, engine.collective_rpc("weight_digests"))
        self._complete.add(engine.url)

    def _serve(self, engine: Engine) -> None:
        engine.reset_prefix_cache()
        engine.resume()
        self._serving.add(engine.url)

    def _settled(self) -> WeightSyncFailed:
        """Bring back what can be brought back, and say what every engine holds."""
        holds, unclear = on_all(self._engines, self._bring_back)
        holds |= dict.fromkeys(unclear, Holds.NOTHING_KNOWN)
        in_order = {engine.url: holds[engine.url] for engine in self._engines}
        return WeightSyncFailed(self._version, in_order, unclear | self._causes)

    def _bring_back(self, engine: Engine) -> Holds:
        url = engine.url
        if url in self._serving:
            return Holds.NEW
        label = engine.weight_version()
        if url in self._complete:
            if url in self._causes:
                return Holds.NEW_PAUSED
            self._serve(engine)
            return Holds.NEW
        if url in self._touched or (url not in self._begun and label.startswith(INCOMPLETE)):
            if not label.startswith(INCOMPLETE):
                engine.update_weight_version(INCOMPLETE + self._version)
            return Holds.PARTIAL
        if url in self._begun:
            self._transport.cancel(engine)
        if url in self._labels:
            engine.update_weight_version(self._labels[url])
        if url in self._served:
            engine.resume()
        return Holds.OLD_PAUSED if engine.is_paused() else Holds.OLD


def compare(sent: Mapping[str, str], workers: Sequence[Mapping[str, str]]) -> None:
    """Raise WrongWeights where a worker computes with something else than was sent, or with what was not sent.

    `sent` are digests by name, `workers` those of each worker; `NAME@PLACE` is a second use of NAME, as in a tied head.
    """
    wrong: set[str] = set()
    for held in workers:
        wrong |= sent.keys() - held.keys()
        wrong |= {place for place, digest in held.items() if digest != sent.get(place.partition("@")[0])}
    if wrong:
        raise WrongWeights(sorted(wrong))


def _control(url: str, timeout: float) -> Engine:
    from vime.backends.vllm_utils.control import EngineControl

    return EngineControl(url, timeout)
