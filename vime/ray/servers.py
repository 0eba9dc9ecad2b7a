"""The engines of a run and the routers before them: started side by side, watched, started again, stopped."""

import logging
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vime.backends.vllm_utils.engine_errors import EngineDied, EngineError
from vime.backends.vllm_utils.external import apply_external_engine_info_to_args
from vime.backends.vllm_utils.router import RouterControl, RouterServer, start_router
from vime.config.args import Args
from vime.config.resolve import Config
from vime.ray.engine_calls import Progress, failure, stop_engines, together
from vime.ray.handles import EngineHandle, make_handles
from vime.utils.network import wrap_ipv6

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ModelServers:
    """The engines of one model."""

    name: str
    ranks: tuple[int, ...]
    urls: tuple[str, ...]
    address: tuple[str, int]
    """Host and port for requests: the router's, or the only engine's."""
    update_weights: bool
    router: RouterServer | None = None
    """The router that was started here."""


@dataclass(frozen=True)
class Servers:
    """Everything that serves. Control calls and weights go to each of `urls`, requests to `router_url`."""

    config: Config
    engines: tuple[EngineHandle, ...]
    models: tuple[ModelServers, ...]
    stale: tuple[int, ...] = ()
    """Engines that were started again: they are paused, and have the weights of the checkpoint until the next sync."""

    @property
    def urls(self) -> tuple[str, ...]:
        """The engines that the trainer's weights go to."""
        return tuple(url for model in self.models if model.update_weights for url in model.urls)

    @property
    def router_url(self) -> str:
        """Where requests to the trained model go."""
        host, port = self.models[0].address
        return f"http://{wrap_ipv6(host)}:{port}"

    def args(self, args: Args) -> Args:
        """A copy of `args` that tells rollout functions where to send requests."""
        host, port = self.models[0].address
        return args.replace(
            vllm_router_ip=wrap_ipv6(host),
            vllm_router_port=port,
            vllm_model_routers={model.name: (wrap_ipv6(model.address[0]), model.address[1]) for model in self.models},
            rollout_num_engines=len(self.models[0].urls),
        )

    def failures(self, timeout: float = 30.0, core: bool = True) -> dict[str, Exception]:
        """What does not work, and why: `engine 3`, `router of actor`. Empty where everything does.

        Without `core` the servers alone are looked at, as an engine that takes weights is busy with that.
        """
        health = {engine.spec.rank: engine.submit("health_generate", timeout, core) for engine in self.engines}
        found: dict[str, Exception] = {}
        for rank, future in health.items():
            if error := failure(future, timeout + 5.0):
                found[f"engine {rank}"] = error
        for model in self.models:
            try:
                if model.router is not None:
                    model.router.check()
            except EngineDied as died:
                found[f"router of {model.name}"] = died
        return found

    def check(self, timeout: float = 30.0) -> None:
        """Raise the first of `failures`."""
        for error in self.failures(timeout).values():
            raise error

    def kill(self, names: Iterable[str]) -> None:
        """End the servers of engines, by the names that `failures` has for them, as a crash would."""
        hit = [engine.submit("simulate_crash") for engine in self.engines if f"engine {engine.spec.rank}" in set(names)]
        for call in hit:
            failure(call, 30.0)

    def restart_dead(
        self,
        failures: Mapping[str, Exception] | None = None,
        timeout: float = 600.0,
        progress: Progress | None = None,
    ) -> "Servers":
        """What there is once dead engines and routers run again; this record where none is dead.

        `failures` is what does not work, where that is known already.

        An engine comes back paused, since it has the weights of the checkpoint: it is `stale` until the next sync, which
        resumes it. Raises EngineError where one does not come back.
        """
        failures = self.failures() if failures is None else failures
        if not failures:
            return self
        engines = tuple(e.revived() if f"engine {e.spec.rank}" in failures else e for e in self.engines)
        dead = [engine for engine in engines if f"engine {engine.spec.rank}" in failures]
        for name, error in failures.items():
            logger.info("%s is started again: %s", name, error)
        for model in self.models:
            _unlist(model, [model.urls[model.ranks.index(e.spec.rank)] for e in dead if e.spec.rank in model.ranks])
        urls = together({engine.spec.rank: _begin_again(engine, timeout) for engine in dead}, dead, progress)
        models = tuple(self._again(model, urls, f"router of {model.name}" in failures) for model in self.models)
        stale = tuple(sorted({*self.stale, *urls}))
        return replace(self, engines=engines, models=models, stale=stale)

    def synced(self) -> "Servers":
        """What there is after a sync reached every engine."""
        return replace(self, stale=())

    def stop(self) -> None:
        """End all of it: routers first, so that nothing is sent to engines that are going."""
        for model in self.models:
            if model.router is not None:
                model.router.stop()
        stop_engines(self.engines)

    def _again(self, model: ModelServers, urls: Mapping[int, str], router_died: bool) -> ModelServers:
        now = tuple(urls.get(rank, url) for rank, url in zip(model.ranks, model.urls, strict=True))
        control = _router(model)
        if router_died and model.router is not None:
            model.router.restart(now)
        elif control is not None:
            for rank in urls.keys() & set(model.ranks):
                control.add(urls[rank])
        return replace(model, urls=now, address=_host_port(now[0]) if control is None else model.address)


def start_servers(
    config: Config, placement: Any = None, progress: Progress | None = None, logs: str | None = None
) -> Servers:
    """Start the engines that the options ask for, then the routers; or find those that run already.

    In Ray's actors where Ray is connected (on the slots of `placement` where it is given), otherwise in this process. Logs go to
    the folder `logs`. Raises EngineError, and leaves nothing running then.
    """
    if config.args.rollout_external:
        config = replace(config, args=apply_external_engine_info_to_args(config.args, logger))
    folder = Path(logs) if logs else _log_folder(config.args)
    engines = make_handles(config, placement, str(folder.absolute()))
    routers: list[RouterServer] = []
    try:
        urls = together({engine.spec.rank: engine.submit("init") for engine in engines}, engines, progress)
        models = tuple(_serve(config, name, engines, urls, folder, routers) for name in _models(engines))
    except BaseException:
        for router in routers:
            router.stop()
        stop_engines(engines)
        raise
    return Servers(config, tuple(engines), models)


def _log_folder(args: Args) -> Path:
    return Path(args.save) / "logs" if args.save else Path(tempfile.mkdtemp(prefix="vime-logs-"))


def _models(engines: Iterable[EngineHandle]) -> list[str]:
    return list(dict.fromkeys(engine.spec.model for engine in engines))


def _serve(
    config: Config,
    name: str,
    engines: Iterable[EngineHandle],
    urls: Mapping[int, str],
    logs: Path,
    routers: list[RouterServer],
) -> ModelServers:
    """The engines of the model `name`, with a router where there are several or one runs already."""
    args = config.args
    specs = [engine.spec for engine in engines if engine.spec.model == name]
    own = tuple(urls[spec.rank] for spec in specs)
    made = ModelServers(name, tuple(s.rank for s in specs), own, _host_port(own[0]), specs[0].update_weights)
    first = specs[0].rank == 0
    if first and args.vllm_router_ip:
        made = replace(made, address=(args.vllm_router_ip.strip("[]"), args.vllm_router_port))
        for url in own:
            RouterControl(_url(made.address)).add(url)
    elif len(own) > 1:
        port = args.vllm_router_port if first else None
        router = start_router(own, args, logs / f"router_{name}.log", host=_host_port(own[0])[0], port=port)
        routers.append(router)
        made = replace(made, router=router, address=(router.host, router.port))
    return made


def _begin_again(engine: EngineHandle, timeout: float) -> "Future[str]":
    if engine.spec.external:
        raise EngineError(
            f"the engine at {engine.spec.external} does not answer, and was not started here", "start it, then the run"
        )
    return engine.submit("restart", timeout)


def _unlist(model: ModelServers, urls: Iterable[str]) -> None:
    """Tell the router of `model`, where it runs, to send nothing to `urls`."""
    control = _router(model)
    if control is None or (model.router is not None and not model.router.alive):
        return
    for url in urls:
        control.remove(url)


def _router(model: ModelServers) -> RouterControl | None:
    """The control of the router before a model's engines; None where requests go to the only engine."""
    if model.router is None and _url(model.address) in model.urls:
        return None
    return RouterControl(_url(model.address))


def _host_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 0


def _url(address: tuple[str, int]) -> str:
    return f"http://{wrap_ipv6(address[0])}:{address[1]}"
