"""The command line and environment of one engine."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vime.backends.vllm_utils.engine_plan import EngineSpec
from vime.backends.vllm_utils.kv_cache import kv_cache_bytes
from vime.backends.vllm_utils.weight_transfer import BACKEND, WORKER_EXTENSION
from vime.backends.vllm_utils.weight_transfer.extension import PRE_READ_HOOK
from vime.config.engine import engine_words
from vime.config.resolve import Config
from vime.utils.network import get_host_info, wrap_ipv6

_FRONT_END: Mapping[str, Any] = MappingProxyType(
    {
        "enable_scale_out": True,  # the token route
        "enable_prompt_tokens_details": True,  # cached tokens
        "enable_server_load_tracking": True,  # GET /load
        "logprobs_mode": "processed_logprobs",  # of the distribution that was sampled from
        "disable_uvicorn_access_log": True,
    }
)
"""Options that the rollout rests on, where the user gave none."""

_BACKENDS = {"gloo": BACKEND, "nccl": "nccl", "ipc": "ipc", "disk": None}
"""vLLM's weight transfer for each way that weights take; a reload from disk needs none."""

_PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
_ALLOCATOR = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}
"""The trainer's allocator settings, which vLLM's sleep mode does not bear."""


@dataclass(frozen=True)
class Launch:
    """What starts one engine, and where it will answer."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    host: str
    port: int

    @property
    def url(self) -> str:
        """The address of its HTTP interface."""
        return f"http://{wrap_ipv6(self.host)}:{self.port}"


def engine_launch(
    config: Config,
    *,
    port: int,
    rank: int = 0,
    gpus: Sequence[int] = (),
    spec: EngineSpec | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Launch:
    """The launch of the engine with number `rank`, or of `spec`, on the GPUs `gpus` of its host (none on a CPU).

    Without `gpus` on a machine that has some, the engine sees those that its owner sees.
    """
    spec = spec or EngineSpec(rank, num_gpus=config.args.rollout_num_gpus_per_engine)
    config = replace(config, engine={**config.engine, **spec.overrides})
    host = "127.0.0.1" if config.device.is_cpu else get_host_info()[1]
    words = [
        sys.executable,
        *("-m", "vime.backends.vllm_utils.serve", str(spec.model_path or config.args.hf_checkpoint)),
        *(f"--host={host.strip('[]')}", f"--port={port}"),
        *_words(_own_options(config, spec)),
        *engine_words(config),
    ]
    return Launch(tuple(words), _environment(config, gpus, environ), host, port)


def _own_options(config: Config, spec: EngineSpec) -> dict[str, Any]:
    """Options that the framework gives, less those that the user gave."""
    args = config.args
    options = dict(_FRONT_END) | {
        "worker_extension_cls": WORKER_EXTENSION,
        "seed": args.seed + spec.rank,
        "tensor_parallel_size": spec.num_gpus // _other_ranks(config),
        "enable_sleep_mode": bool(args.offload_rollout) and not config.device.is_cpu,
    }
    if backend := _BACKENDS[args.update_weight_transport]:
        options["weight_transfer_config"] = {"backend": backend}
    if config.device.is_cpu and "gpu_memory_utilization" not in config.engine:
        options["kv_cache_memory_bytes"] = kv_cache_bytes(args)
    return {name: value for name, value in options.items() if name not in config.engine}


def _other_ranks(config: Config) -> int:
    """An engine's GPUs are those of its tensor ranks, times its pipeline stages, times its data-parallel replicas."""
    return config.engine.get("pipeline_parallel_size", 1) * config.engine.get("data_parallel_size", 1)


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            yield flag
        elif value is not False:
            yield f"{flag}={json.dumps(value) if isinstance(value, dict) else value}"


def _environment(config: Config, gpus: Sequence[int], environ: Mapping[str, str]) -> dict[str, str]:
    env = without_proxies({name: value for name, value in environ.items() if name not in _ALLOCATOR})
    env |= {"VLLM_SERVER_DEV_MODE": "1", "VLLM_NO_USAGE_STATS": "1", "PYTHONPATH": _import_path(environ)}
    env |= config.device.engine_env(config.args.vllm_enable_deterministic_inference)
    if gpus:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
    if config.args.update_weight_transport == "ipc":
        env["VLLM_ALLOW_INSECURE_SERIALIZATION"] = "1"
    if hook := config.args.vllm_custom_pull_weights_pre_read_hook:
        env[PRE_READ_HOOK] = hook
    return env


def without_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` for a process that speaks to servers of this run only."""
    return {name: value for name, value in environ.items() if name.lower() not in _PROXIES} | {
        "NO_PROXY": "*",
        "no_proxy": "*",
    }


def _import_path(environ: Mapping[str, str]) -> str:
    """Where the server's Python finds this package, installed or not."""
    root = str(Path(__file__).parents[3])
    return os.pathsep.join(dict.fromkeys([root, *filter(None, environ.get("PYTHONPATH", "").split(os.pathsep))]))
