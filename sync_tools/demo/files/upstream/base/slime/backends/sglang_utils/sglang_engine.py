import logging
import multiprocessing
import time

import requests
from sglang.srt.entrypoints.http_server import launch_server
from sglang.srt.server_args import ServerArgs

from slime.ray.ray_actor import RayActor
from slime.utils.http_utils import get_host_info

logger = logging.getLogger(__name__)


def launch_server_process(server_args: ServerArgs) -> multiprocessing.Process:
    process = multiprocessing.get_context("spawn").Process(target=launch_server, args=(server_args,))
    process.start()
    wait_until_healthy(server_args.url(), process.is_alive)
    return process


def wait_until_healthy(base_url: str, is_alive) -> None:
    """Returns once the server generates; raises when its process is gone before that."""
    while is_alive():
        try:
            if requests.get(f"{base_url}/health_generate", timeout=10).status_code == 200:
                return
        except requests.RequestException:
            time.sleep(2)
    raise RuntimeError(f"the SGLang server at {base_url} died while it started")


class SGLangEngine(RayActor):
    """One SGLang server as a Ray actor: started here, steered over HTTP."""

    def __init__(self, args, rank: int):
        self.args = args
        self.rank = rank
        self.process = None
        self.base_url = None

    def init(self, port: int, dist_init_addr: str, router_ip: str, router_port: int) -> None:
        host = get_host_info()[1]
        self.process = launch_server_process(ServerArgs(**self._server_kwargs(host, port, dist_init_addr)))
        self.base_url = f"http://{host}:{port}"
        self.router_url = f"http://{router_ip}:{router_port}"
        requests.post(f"{self.router_url}/workers", json={"url": self.base_url}).raise_for_status()

    def _server_kwargs(self, host: str, port: int, dist_init_addr: str) -> dict:
        ours = {
            key.removeprefix("sglang_"): value
            for key, value in vars(self.args).items()
            if key.startswith("sglang_") and value is not None
        }
        for orchestration in ("router_ip", "router_port", "server_concurrency"):
            ours.pop(orchestration, None)
        return {
            **ours,
            "model_path": self.args.hf_checkpoint,
            "host": host,
            "port": port,
            "dist_init_addr": dist_init_addr,
            "tp_size": self.args.rollout_num_gpus_per_engine,
            "random_seed": self.args.rollout_seed + self.rank,
            "trust_remote_code": True,
        }

    def _make_request(self, endpoint: str, payload: dict | None = None) -> dict | None:
        response = requests.post(f"{self.base_url}/{endpoint}", json=payload or {})
        response.raise_for_status()
        return response.json() if response.content else None

    def health(self) -> bool:
        return requests.get(f"{self.base_url}/health_generate", timeout=10).status_code == 200

    def flush_cache(self) -> None:
        """SGLang refuses to flush while it works on requests, so ask until it takes it."""
        for _ in range(60):
            if requests.get(f"{self.base_url}/flush_cache").status_code == 200:
                return
            time.sleep(1)
        raise TimeoutError("the cache could not be flushed within a minute")

    def pause_generation(self):
        return self._make_request("pause_generation")

    def continue_generation(self):
        return self._make_request("continue_generation")

    def release_memory_occupation(self):
        self.flush_cache()
        return self._make_request("release_memory_occupation")

    def resume_memory_occupation(self, tags: list[str] | None = None):
        return self._make_request("resume_memory_occupation", {"tags": tags} if tags else None)

    def update_weights_from_disk(self, model_path: str, weight_version: str):
        return self._make_request(
            "update_weights_from_disk", {"model_path": model_path, "weight_version": weight_version}
        )

    def shutdown(self) -> None:
        for worker in requests.get(f"{self.router_url}/workers").json()["workers"]:
            if worker["url"] == self.base_url:
                requests.delete(f"{self.router_url}/workers/{worker['id']}")
        self.process.terminate()
