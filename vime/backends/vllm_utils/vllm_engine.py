"""One engine of a run: a vLLM server and the calls to it. A plain class, which Ray can make an actor of."""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.engine_errors import (
    EngineCallFailed,
    EngineError,
    EngineHangs,
    EngineNotHealthy,
    PortTaken,
)
from vime.backends.vllm_utils.engine_plan import EngineSpec
from vime.backends.vllm_utils.external import normalize_external_engine_addr
from vime.backends.vllm_utils.launch import engine_launch
from vime.backends.vllm_utils.server import EngineServer
from vime.config.resolve import Config
from vime.utils.network import find_available_port

logger = logging.getLogger(__name__)

BASE_PORT = 15_000
_PORT_ATTEMPTS = 5
_ENDS = 1.0
"""Seconds that one which does not answer has to end, before it counts as one that runs."""


@dataclass(frozen=True)
class EngineStatus:
    """How far an engine is."""

    rank: int
    url: str | None
    state: str
    """new, starting, running, dead or stopped."""
    seconds: float
    """Since it was asked to start; how long that took, once it runs."""
    doing: str
    """The last thing that its log said while it started."""


class VLLMEngine:
    """The engine of `spec`, with its log in the folder `logs`. Every method may be called while another one waits.

    An engine that runs already (`spec.external`) is used, and neither started nor stopped.
    """

    def __init__(self, config: Config, spec: EngineSpec, logs: str, gpus: Sequence[int] = ()) -> None:
        self.config, self.spec, self.gpus = config, spec, tuple(gpus)
        self._log = Path(logs) / f"engine_{spec.rank}.log"
        self._server: EngineServer | None = None
        self._url = normalize_external_engine_addr(spec.external) if spec.external else None
        self._state, self._since, self._doing = "new", time.monotonic(), ""
        self._starting = threading.Lock()

    def init(self, port: int | None = None, timeout: float = 600.0) -> str:
        """Start it and wait until it is healthy; its address. A free port is found unless `port` says which to take.

        Raises EngineDied, EngineNotHealthy, PortTaken.
        """
        with self._starting:
            if self._server is not None and self._server.alive:
                return self.get_url()
            self._begin()
            try:
                if self.spec.external:
                    self._await_external(timeout)
                else:
                    self._start(port, timeout)
            except BaseException:
                self._state = "dead"
                raise
            self._state, self._since = "running", time.monotonic() - self._since
            return self.get_url()

    def restart(self, timeout: float = 600.0) -> str:
        """Start it again, paused, with the weights of the checkpoint; its address, the old one if that is still free."""
        if self.spec.external:
            raise EngineError(f"the engine at {self._url} was not started here; start it again, then the run")
        port = self._server.launch.port if self._server else None
        self.shutdown()
        try:
            self.init(port, timeout)
        except PortTaken:
            self.init(None, timeout)
        self.pause_generation()
        return self.get_url()

    def get_url(self) -> str:
        """Its address. Raises EngineError before it was started."""
        if self._url is None:
            raise EngineError(f"engine {self.spec.rank} was not started")
        return self._url

    def status(self) -> EngineStatus:
        """How far it is."""
        seconds = self._since if self._state == "running" else time.monotonic() - self._since
        return EngineStatus(self.spec.rank, self._url, self._state, seconds, self._doing)

    def health_generate(self, timeout: float = 5.0, core: bool = True) -> bool:
        """True, or an error that says why: its process ended, or it does not answer. A paused engine is healthy.

        A server answers for itself also where the `core` behind it hangs, so that is asked; while it takes weights it
        does not answer. Upstream generates a token, which would wait for as long as the engine is paused.
        """
        if self._server is not None:
            self._server.check()
        try:
            self.control(timeout).call("GET", "/is_paused" if core else "/health")
        except EngineCallFailed as failed:
            if failed.status is None:
                if self._server is not None:
                    self._server.check(within=_ENDS)
                raise EngineHangs(self.get_url(), timeout, failed.detail, str(self._log)) from failed
            raise
        return True

    def control(self, timeout: float = 60.0) -> EngineControl:
        """Its control calls."""
        return EngineControl(self.get_url(), timeout)

    def pause_generation(self) -> None:
        """Abort what it generates and let new requests wait."""
        self.control().pause()

    def continue_generation(self) -> None:
        """Generate again."""
        self.control().resume()

    def flush_cache(self) -> None:
        """Forget cached prefixes, once no request holds them."""
        self.control().reset_prefix_cache(timeout=60.0)

    def get_weight_version(self) -> str:
        """The name of the weights that it has."""
        return self.control().weight_version()

    def release_memory_occupation(self, level: int = 1) -> None:
        """Free its GPU memory, and drop cached prefixes."""
        self.control(600.0).sleep(level)

    def resume_memory_occupation(self, tags: list[str] | None = None) -> None:
        """Take GPU memory again; it generates when the last part is back."""
        self.control(600.0).wake_up(tags)

    def update_weights_from_disk(
        self, model_path: str, load_format: str | None = None, weight_version: Any = None
    ) -> None:
        """Read the weights of a Hugging Face folder. The engine must be paused; its prefixes are to be forgotten afterwards.

        A folder that is not there would leave the engine without weights, so that is looked at before.
        """
        if load_format not in (None, "auto"):
            raise EngineError(
                f"load_format {load_format}: vLLM reads a checkpoint in the format that it was started with"
            )
        if not any(Path(model_path).glob("*.safetensors")):
            raise EngineError(f"there is no *.safetensors in {model_path}; write the checkpoint there first")
        self.control().collective_rpc("reload_weights", {"weights_path": model_path})
        self.control().collective_rpc("repair_tied_head")
        if weight_version is not None:
            self.control().update_weight_version(str(weight_version))

    def pull_weights(self, target_version: int) -> list[Any]:
        """Have every worker bring its local checkpoint to `target_version`."""
        args = self.config.args
        folders = {
            "local_checkpoint_dir": args.update_weight_local_checkpoint_dir,
            "source_dir": args.update_weight_disk_dir,
        }
        return self.control().collective_rpc(
            "pull_weights", {**folders, "target_version": target_version}, timeout=3600.0
        )

    def check_weights(self, action: str) -> Any:
        """vLLM's own check of weights: checksum, reset or compare. It says nothing on a CPU, whose layers keep packed copies."""
        return self.control(600.0).call("POST", "/weight_checker", {"action": action})

    def start_profile(self, profile_prefix: str | None = None, num_steps: int | None = None) -> None:
        """Record a profile; the engine must have been started with --vllm-profiler-config."""
        named = {"profile_prefix": profile_prefix, "max_iterations": num_steps}
        self.control().call("POST", "/start_profile", {k: v for k, v in named.items() if v is not None})

    def stop_profile(self) -> None:
        """End the profile."""
        self.control(600.0).call("POST", "/stop_profile")

    def simulate_crash(self) -> None:
        """Kill its process, as if it had crashed; nothing where it was not started here."""
        if self._server is not None:
            self._server.kill()

    def shutdown(self) -> None:
        """End it; nothing of it is left then. An engine that was not started here goes on."""
        if self._server is not None:
            self._server.stop()
        if not self.spec.external:
            self._state = "stopped"

    def pid(self) -> int | None:
        """The process of its server, where it was started here."""
        return self._server.pid if self._server else None

    def log(self, lines: int = 30) -> str:
        """The end of its log."""
        return self._server.tail(lines) if self._server else ""

    def _begin(self) -> None:
        self._state, self._since, self._doing = "starting", time.monotonic(), ""

    def _start(self, port: int | None, timeout: float) -> None:
        for left in reversed(range(_PORT_ATTEMPTS)):
            taken = port or find_available_port(BASE_PORT + 100 * self.spec.rank)
            launch = engine_launch(self.config, port=taken, rank=self.spec.rank, gpus=self.gpus, spec=self.spec)
            self._server = EngineServer(launch, self._log)
            try:
                self._server.start()
                self._server.wait_healthy(timeout, self._tell)
            except PortTaken:
                self._server.stop()
                if port is not None or not left:
                    raise
                logger.warning("port %d was taken meanwhile; engine %d takes another", taken, self.spec.rank)
            except BaseException:
                self._server.stop()
                raise
            else:
                self._url = launch.url
                return

    def _await_external(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not self.control().healthy(timeout=5.0):
            if time.monotonic() > deadline:
                raise EngineNotHealthy(self.get_url(), timeout, "(it was not started here)", "")
            time.sleep(0.5)

    def _tell(self, seconds: float, doing: str) -> None:
        self._doing = doing
        logger.info("engine %d: %.0f s, %s", self.spec.rank, seconds, doing)
