import logging
import os
import subprocess
import time
from urllib.parse import quote

import requests

from vime.ray.ray_actor import RayActor
from vime.utils.http_utils import get_host_info

logger = logging.getLogger(__name__)

# The token route, the cache numbers, and log probs that know the temperature are off unless asked for.
FRONT_END = ("--enable-scale-out", "--enable-prompt-tokens-details")
LOGPROBS = ("--logprobs-mode", "processed_logprobs")


def launch_server_process(model: str, flags: list[str]) -> subprocess.Popen:
    # Without it the server has no /pause, /sleep, /abort_requests and /collective_rpc.
    env = {**os.environ, "VLLM_SERVER_DEV_MODE": "1"}
    return subprocess.Popen(["vllm", "serve", model, *FRONT_END, *LOGPROBS, *flags], env=env)


def wait_until_healthy(base_url: str, process: subprocess.Popen) -> None:
    """Returns once the server answers; raises when its process is gone before that."""
    while process.poll() is None:
        try:
            if requests.get(f"{base_url}/health", timeout=10).status_code == 200:
                return
        except requests.RequestException:
            time.sleep(2)
    raise RuntimeError(f"the vLLM server at {base_url} died while it started")


class VLLMEngine(RayActor):
    """One vLLM server as a Ray actor: started here, steered over HTTP."""

    def __init__(self, args, rank: int):
        self.args = args
        self.rank = rank
        self.process = None
        self.base_url = None

    def init(self, port: int, dist_init_addr: str, router_ip: str, router_port: int) -> None:
        host = get_host_info()[1]
        self.process = launch_server_process(self.args.hf_checkpoint, self._flags(host, port))
        self.base_url = f"http://{host}:{port}"
        self.router_url = f"http://{router_ip}:{router_port}"
        wait_until_healthy(self.base_url, self.process)
        requests.post(f"{self.router_url}/workers", json={"url": self.base_url}).raise_for_status()

    def _flags(self, host: str, port: int) -> list[str]:
        ours = {
            key.removeprefix("vllm_"): value
            for key, value in vars(self.args).items()
            if key.startswith("vllm_") and value not in (None, False)
        }
        for orchestration in ("router_ip", "router_port", "server_concurrency"):
            ours.pop(orchestration, None)
        ours |= {"host": host, "port": port, "seed": self.args.rollout_seed + self.rank}
        ours |= {"tensor_parallel_size": self.args.rollout_num_gpus_per_engine}
        flags = ["--trust-remote-code"]
        for key, value in ours.items():
            flags.append(f"--{key.replace('_', '-')}")
            flags += [] if value is True else [str(value)]
        return flags

    def _make_request(self, endpoint: str, payload: dict | None = None, **query) -> dict | None:
        response = requests.post(f"{self.base_url}/{endpoint}", params=query, json=payload or {})
        response.raise_for_status()
        return response.json() if response.content else None

    def health(self) -> bool:
        return requests.get(f"{self.base_url}/health", timeout=10).status_code == 200

    def flush_cache(self) -> None:
        """vLLM always answers 200; whether it did is in the body."""
        for _ in range(60):
            if self._make_request("reset_prefix_cache")["success"]:
                return
            time.sleep(1)
        raise TimeoutError("the prefix cache could not be reset within a minute")

    def pause_generation(self):
        return self._make_request("pause", mode="abort")

    def continue_generation(self):
        return self._make_request("resume")

    def release_memory_occupation(self):
        return self._make_request("sleep", level=1)

    def resume_memory_occupation(self, tags: list[str] | None = None):
        # vLLM wakes nothing at all when it does not know one of the tags.
        known = [tag for tag in tags or [] if tag in ("weights", "kv_cache")]
        return self._make_request("wake_up", tags=known)

    def update_weights_from_disk(self, model_path: str, weight_version: str):
        call = {"method": "reload_weights", "kwargs": {"weights_path": model_path}}
        self._make_request("collective_rpc", call)
        return self._make_request("update_weight_version", {"weight_version": weight_version})

    def shutdown(self) -> None:
        requests.delete(f"{self.router_url}/workers/{quote(self.base_url, safe='')}")
        self.process.terminate()
