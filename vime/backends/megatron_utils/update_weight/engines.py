"""What a sync needs of an engine, and how it talks to several at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from vime.backends.megatron_utils.update_weight.plan import WeightPlan

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
U = TypeVar("U")
Tensors = Iterable[tuple[str, "Tensor"]]
"""Named full tensors in Hugging Face form. Where it can be iterated again, a failed send can be repeated."""


class Engine(Protocol):
    """The control calls of one engine; each blocks and raises when the engine refuses, is gone, or takes too long."""

    url: str

    def pause(self, mode: str) -> Any: ...
    def resume(self) -> Any: ...
    def is_paused(self) -> bool: ...
    def reset_prefix_cache(self) -> Any: ...
    def world_size(self) -> int: ...
    def init_weight_transfer_engine(self, info: Mapping[str, Any]) -> Any: ...
    def start_weight_update(self) -> Any: ...
    def update_weights(self, info: Mapping[str, Any]) -> Any: ...
    def finish_weight_update(self, version: str | None = None) -> Any: ...
    def update_weight_version(self, version: str) -> Any: ...
    def weight_version(self) -> str: ...
    def collective_rpc(self, method: str, kwargs: Mapping[str, Any] | None = None) -> Any: ...


@dataclass
class Delivery:
    """What became of one send: who was given data, and whom it failed at. Filled while it runs, so that it is right
    however the send ends."""

    touched: set[str] = field(default_factory=set)
    failed: dict[str, Exception] = field(default_factory=dict)


class Transport(Protocol):
    """A way for weights. `begin`, `cancel` and `commit` are for one engine; `send` serves all that are given at once, and
    what it sends went through `stage` before."""

    name: str
    bucket_limit: int
    """The largest bucket, in bytes, that is of use to it."""

    def connect(self, engines: Sequence[Engine]) -> None:
        """Be ready to send to `engines`; called again when one was replaced."""

    def begin(self, engine: Engine) -> None:
        """Make a paused engine ready for data."""

    def cancel(self, engine: Engine) -> None:
        """Bring an engine that took no data back to its old weights."""

    def stage(self, tensors: Tensors, plan: WeightPlan) -> Any:
        """`tensors` as `send` takes them, with work done that needs no engine: it goes on while they stop."""

    def send(self, engines: Sequence[Engine], staged: Any, plan: WeightPlan, delivery: Delivery) -> None:
        """The weights, to all `engines`. An engine's failure goes to `delivery.failed`; the trainer's own is raised."""

    def commit(self, engine: Engine, version: str) -> None:
        """Put what was sent in use, under its version."""

    def close(self) -> None:
        """Give up connections and files."""


def on_all(engines: Sequence[Engine], call: Callable[[Engine], T]) -> tuple[dict[str, T], dict[str, Exception]]:
    """`call` on every engine at the same time: the answers, and the failures, by url."""
    answers: dict[str, T] = {}
    failures: dict[str, Exception] = {}
    if not engines:
        return answers, failures
    with ThreadPoolExecutor(len(engines), thread_name_prefix="weight-sync") as pool:
        calls = [(engine.url, pool.submit(call, engine)) for engine in engines]
        for url, future in calls:
            try:
                answers[url] = future.result()
            except Exception as error:
                failures[url] = error
    return answers, failures


def both(first: Callable[[], T], second: Callable[[], U]) -> tuple[T, U]:
    """Two calls at the same time, and both to their end. Raises what the first raised, else what the second did."""
    with ThreadPoolExecutor(1, thread_name_prefix="weight-sync") as pool:
        beside = pool.submit(second)
        answer = first()
    return answer, beside.result()


def start_update(engine: Engine) -> None:
    """Open an update. One that an earlier trainer left open is closed first; the full send that follows replaces all."""
    try:
        engine.start_weight_update()
    except Exception as error:
        if "already active" not in str(error):
            raise
        engine.finish_weight_update()
        engine.start_weight_update()


def put_back(engine: Engine) -> None:
    """Close an update in which nothing was loaded: every layer gets its old weights back."""
    try:
        engine.finish_weight_update()
    except Exception as error:
        # A failed /update_weights ends vLLM's session and leaves the layers open: open it again to close it well.
        if "without a matching" not in str(error):
            raise
        engine.start_weight_update()
        engine.finish_weight_update()
