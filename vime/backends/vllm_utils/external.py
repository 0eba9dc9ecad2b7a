"""Engines that run already: found, looked at, used, and never stopped."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.engine_errors import EngineCallFailed, EngineError
from vime.config.args import Args


class ExternalEngineUnusable(EngineError):
    """An engine that runs already lacks what a rollout needs."""


@dataclass(frozen=True)
class ExternalEngineInfo:
    """One engine that runs already, as it describes itself."""

    url: str
    host: str
    port: int
    worker_type: str
    """regular; another has only a part of each request."""
    num_gpus: int
    """Tensor x pipeline x data parallel."""
    disaggregation_bootstrap_port: int | None = None
    server_info: dict[str, Any] = field(default_factory=dict)

    @property
    def is_pd_worker(self) -> bool:
        """Whether it takes only a part of each request."""
        return self.worker_type in ("prefill", "decode")

    @property
    def parallel_config(self) -> dict[str, int]:
        """How its model is split, in upstream's words."""
        parallel = self.server_info.get("parallel_config") or {}
        sizes = {name: int(parallel.get(f"{name}_parallel_size") or 1) for name in ("tensor", "pipeline", "data")}
        experts = sizes["tensor"] * sizes["data"] if parallel.get("enable_expert_parallel") else 1
        return {"tp_size": sizes["tensor"], "pp_size": sizes["pipeline"], "ep_size": experts, "moe_dp_size": 1}

    def to_dict(self) -> dict[str, Any]:
        """Its fields."""
        return dataclasses.asdict(self)


def normalize_external_engine_addr(addr: str) -> str:
    """`host:port` or `http://host:port` as an address. Raises ValueError."""
    url = (addr if "://" in addr else f"http://{addr}").rstrip("/")
    try:
        parts = urlsplit(url)
        valid = parts.scheme == "http" and parts.hostname and parts.port and not (parts.path or parts.query)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"{addr!r} is no address of an engine; write host:port, with an IPv6 host in brackets")
    return url


def get_server_info(url: str, timeout: float = 30.0) -> dict[str, Any]:
    """The engine's configuration as vLLM tells it. Raises ExternalEngineUnusable where it does not."""
    try:
        answer = EngineControl(url, timeout).server_info()
    except EngineCallFailed as failed:
        how = "start it with VLLM_SERVER_DEV_MODE=1 in its environment" if failed.status == 404 else "is it running?"
        raise ExternalEngineUnusable(
            f"the engine at {url} does not tell its configuration ({failed}); {how}"
        ) from failed
    told = answer.get("vllm_config") if isinstance(answer, dict) else None
    if not isinstance(told, dict):
        raise ExternalEngineUnusable(f"the server at {url} is no vLLM engine that this version knows")
    return told


def discover_external_engines(addrs: Sequence[str], timeout: float = 30.0) -> list[ExternalEngineInfo]:
    """What runs at `addrs`, in their order. Raises ExternalEngineUnusable."""
    return [_discover(normalize_external_engine_addr(addr), timeout) for addr in addrs]


def apply_external_engine_info_to_args(args: Args, logger: Any = None) -> Args:
    """A copy of `args` that knows the engines of --rollout-external-engine-addrs and their sizes."""
    if not args.rollout_external_engine_addrs:
        raise ValueError("--rollout-external-engine-addrs names no engine")
    infos = discover_external_engines(args.rollout_external_engine_addrs)
    if logger is not None:
        logger.info("engines that run already: %s", ", ".join(f"{info.url} ({info.num_gpus} GPUs)" for info in infos))
    return args.replace(
        rollout_external_engine_infos=tuple(infos),
        rollout_num_engines=len(infos),
        rollout_num_gpus=sum(info.num_gpus for info in infos),
    )


def external_engine_infos_from_args(args: Args) -> list[ExternalEngineInfo]:
    """What apply_external_engine_info_to_args found."""
    infos = getattr(args, "rollout_external_engine_infos", None)
    if infos is None:
        raise RuntimeError("the external engines are not known yet; call apply_external_engine_info_to_args first")
    return list(infos)


def _discover(url: str, timeout: float) -> ExternalEngineInfo:
    told = get_server_info(url, timeout)
    role = (told.get("kv_transfer_config") or {}).get("kv_role")
    worker_type = {"kv_producer": "prefill", "kv_consumer": "decode"}.get(role, "regular")
    if worker_type != "regular":
        raise ExternalEngineUnusable(f"the engine at {url} is a {worker_type} engine; this version needs regular ones")
    mode = (told.get("model_config") or {}).get("logprobs_mode")
    if mode not in (None, "processed_logprobs"):
        raise ExternalEngineUnusable(
            f"the engine at {url} returns {mode}, not those that it samples from; start it with "
            "--logprobs-mode processed_logprobs"
        )
    parallel = told.get("parallel_config") or {}
    gpus = 1
    for name in ("tensor", "pipeline", "data"):
        gpus *= int(parallel.get(f"{name}_parallel_size") or 1)
    parts = urlsplit(url)
    return ExternalEngineInfo(url, parts.hostname or "", parts.port or 0, worker_type, gpus, server_info=told)
