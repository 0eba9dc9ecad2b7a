"""An engine as an actor of Ray, or in this process: called the same way. And where each engine of a run goes."""

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from vime.backends.vllm_utils.engine_plan import EngineSpec, engine_specs
from vime.backends.vllm_utils.vllm_engine import VLLMEngine
from vime.config.resolve import Config

_CALLS = 8
"""Calls of one actor that may run at once, so that its health can be asked for while another call waits."""
_ANSWERS_WITHIN = 60.0
"""Seconds after which an actor that does not say how it is counts as gone."""
_SHARE = 0.2
"""Of a CPU, and of a GPU, that an actor claims; the engine's memory is vLLM's business."""
_ALL_GPUS_VISIBLE = {"RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES": "1"}


@dataclass(frozen=True)
class Place:
    """Where an engine's actor goes."""

    gpus: tuple[int, ...] = ()
    """Of its host; empty where its owner's environment says which it may use."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the actor."""


class EngineHandle(Protocol):
    """One engine, wherever it is."""

    spec: EngineSpec

    def submit(self, method: str, *arguments: Any, **named: Any) -> "Future[Any]":
        """Begin to call a method of VLLMEngine; the future raises what the method raised."""
        ...

    def revived(self) -> "EngineHandle":
        """A handle whose owner lives: this one, or a new one of the same engine."""
        ...

    def close(self) -> None:
        """Give the engine's owner up; its server ends with it."""
        ...


class LocalHandle:
    """An engine that belongs to this process."""

    def __init__(self, config: Config, spec: EngineSpec, logs: str, place: Place) -> None:
        self.spec = spec
        self.engine = VLLMEngine(config, spec, logs, place.gpus)

    def submit(self, method: str, *arguments: Any, **named: Any) -> "Future[Any]":
        answered: Future[Any] = Future()
        call = partial(getattr(self.engine, method), *arguments, **named)
        threading.Thread(
            target=_run, args=(call, answered), name=f"engine-{self.spec.rank}-{method}", daemon=True
        ).start()
        return answered

    def revived(self) -> "LocalHandle":
        return self

    def close(self) -> None:
        self.engine.shutdown()


class RayHandle:
    """An engine that belongs to an actor. When the actor ends, however it does, the kernel ends the server."""

    def __init__(self, config: Config, spec: EngineSpec, logs: str, place: Place) -> None:
        import ray

        self.spec = spec
        self._made_of = (config, spec, logs, place)
        options = {"max_concurrency": _CALLS, "max_restarts": 0, **place.options}
        self.actor = ray.remote(VLLMEngine).options(**options).remote(config, spec, logs, place.gpus)

    def submit(self, method: str, *arguments: Any, **named: Any) -> "Future[Any]":
        answered: Future[Any] = Future()
        call = getattr(self.actor, method).remote(*arguments, **named).future()
        call.add_done_callback(lambda done: _hand_over(done, answered))
        return answered

    def revived(self) -> "RayHandle":
        from ray.exceptions import RayActorError

        try:
            self.submit("status").result(timeout=_ANSWERS_WITHIN)
        except (RayActorError, TimeoutError):
            self.close()
            return RayHandle(*self._made_of)
        return self

    def close(self) -> None:
        import ray

        ray.kill(self.actor)


def make_handles(config: Config, placement: Any, logs: str) -> tuple[EngineHandle, ...]:
    """A handle of each engine of the run, not yet started. `placement` has the slots of the engines, or is None."""
    specs = engine_specs(config.args)
    if not _ray_is_connected():
        return tuple(LocalHandle(config, spec, logs, _place_here(config, spec)) for spec in specs)
    return tuple(RayHandle(config, spec, logs, _place(config, placement, spec)) for spec in specs)


def _ray_is_connected() -> bool:
    return "ray" in sys.modules and sys.modules["ray"].is_initialized()


def _place_here(config: Config, spec: EngineSpec) -> Place:
    if config.device.is_cpu:
        return Place()
    return Place(tuple(range(spec.gpu_offset, spec.gpu_offset + spec.num_gpus)))


def _place(config: Config, placement: Any, spec: EngineSpec) -> Place:
    if spec.external:
        return Place(options={"num_cpus": 0})
    gpus = 0 if config.device.is_cpu else spec.num_gpus
    if placement is None:
        return Place(options={"num_cpus": _SHARE, "num_gpus": gpus})  # Ray tells the actor which ones
    slots: Sequence[Any] = placement.engines[spec.gpu_offset : spec.gpu_offset + spec.num_gpus]
    options = {
        "num_cpus": _SHARE,
        "num_gpus": _SHARE if gpus else 0,
        "scheduling_strategy": placement.strategy(slots[0]),
    }
    if gpus:
        options["runtime_env"] = {"env_vars": _ALL_GPUS_VISIBLE}
    return Place(tuple(slot.gpu for slot in slots) if gpus else (), options)


def _run(call: Callable[[], Any], answered: "Future[Any]") -> None:
    try:
        answered.set_result(call())
    except BaseException as error:
        answered.set_exception(error)


def _hand_over(done: "Future[Any]", answered: "Future[Any]") -> None:
    """Pass a call's outcome on; an error as the actor raised it, without Ray's wrapping."""
    from ray.exceptions import RayTaskError

    error = done.exception()
    if isinstance(error, RayTaskError) and isinstance(error.cause, Exception):
        error = error.cause
    if error is not None:
        answered.set_exception(error)
    else:
        answered.set_result(done.result())
