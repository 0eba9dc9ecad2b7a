"""Engines and a transport that write down what they are told, and fail where a test says so."""

from collections.abc import Callable, Iterable
from threading import Lock

from vime.backends.megatron_utils.update_weight.plan import TensorMeta, plan_weights


class Refused(RuntimeError):
    """What a scripted engine answers with."""


class ScriptedEngine:
    """An engine with vLLM's rules: nothing is loaded outside a session, a failed load ends that and leaves its layers open,
    what is loaded into open layers is mixed with what they have, and what it holds follows.

    `failing` names calls, each as often as it is listed; `dead_at` one after which it never answers again.
    """

    def __init__(self, url: str, failing: Iterable[str] = (), dead_at: str | None = None) -> None:
        self.url, self.calls = url, []
        self._failing, self._dead_at, self._dead, self._lock = list(failing), dead_at, False, Lock()
        self.label, self.paused, self.open, self.loaded = "default", False, False, False
        self.weights, self.cache = "old", "old"
        self.half_loaded = False

    def _called(self, name: str) -> None:
        with self._lock:
            self.calls.append(name)
            if name == self._dead_at:
                self._dead = True
            if self._dead:
                raise ConnectionError(f"{self.url} does not answer")
            if name in self._failing:
                self._failing.remove(name)
                raise Refused(f"{name} failed")

    def pause(self, mode):
        self._called("pause")
        self.paused = True

    def resume(self):
        self._called("resume")
        assert not self.open, "a generation inside a session ends the engine"
        self.paused = False

    def is_paused(self):
        self._called("is_paused")
        return self.paused

    def reset_prefix_cache(self):
        self._called("reset_prefix_cache")
        self.cache = self.weights

    def world_size(self):
        return 1

    def init_weight_transfer_engine(self, info):
        self._called("init_weight_transfer_engine")

    def start_weight_update(self):
        self._called("start_weight_update")
        if self.open:
            raise Refused("a weight update is already active")
        assert self.paused
        self.open, self.loaded = True, False

    def update_weights(self, info):
        if not self.open:
            raise Refused("start_weight_update must be called before update_weights")
        self.weights = "part"
        try:
            self._called("update_weights")
        except Exception:
            self.open, self.half_loaded = False, True
            raise
        self.weights, self.loaded = "mixed" if self.half_loaded else "part", True

    def finish_weight_update(self, version=None):
        self._called("finish_weight_update")
        if not self.open:
            raise Refused("finish_weight_update called without a matching start_weight_update")
        self.open = self.half_loaded = False
        if self.loaded and self.weights == "part":
            self.weights = "new"
        if version is not None:
            self.label = version

    def update_weight_version(self, version):
        self._called("update_weight_version")
        self.label = version

    def weight_version(self):
        self._called("weight_version")
        return self.label

    def collective_rpc(self, method, kwargs=None):
        self._called(method)
        return [None]


class ScriptedTransport:
    """Sends by one call of update_weights an engine; `interrupt` is raised after that many tensors."""

    name, bucket_limit = "scripted", 1024

    def __init__(self, interrupt: BaseException | None = None, after: int = 0) -> None:
        self._interrupt, self._after = interrupt, after

    def connect(self, engines):
        pass

    def begin(self, engine):
        from vime.backends.megatron_utils.update_weight.engines import start_update

        start_update(engine)

    def cancel(self, engine):
        from vime.backends.megatron_utils.update_weight.engines import put_back

        put_back(engine)

    def stage(self, tensors, plan):
        return tensors

    def send(self, engines, staged, plan, delivery):
        for number, _ in enumerate(staged):
            if self._interrupt is not None and number == self._after:
                raise self._interrupt
            if number == 0:
                for engine in engines:
                    delivery.touched.add(engine.url)
                    try:
                        engine.update_weights(plan.update_info)
                    except Exception as error:
                        delivery.failed[engine.url] = error

    def commit(self, engine, version):
        engine.finish_weight_update(version)

    def close(self):
        pass


METAS = tuple(TensorMeta(f"layer{number}.weight", "float32", (4, 4)) for number in range(3))
PLAN = plan_weights(METAS, 64)
TENSORS = [(meta.name, object()) for meta in METAS]
"""Values that a scripted transport does not look at."""


def control(engines: Iterable[ScriptedEngine]) -> Callable[[str], ScriptedEngine]:
    """What stands in the place of EngineControl."""
    return {engine.url: engine for engine in engines}.__getitem__
