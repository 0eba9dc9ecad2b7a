import logging

import ray

from slime.backends.sglang_utils.sglang_engine import SGLangEngine
from slime.rollout.data_source import RolloutDataSource
from slime.utils.http_utils import init_http_client
from slime.utils.misc import load_function

logger = logging.getLogger(__name__)


class RolloutManager:
    """Owns the engines, the data source and the rollout function, and turns samples into training data."""

    def __init__(self, args, group):
        self.args = args
        self.group = group
        self.data_source = RolloutDataSource(args)
        self.generate_rollout = load_function(args.rollout_function_path)
        self.engines = self._start_engines()
        init_http_client(args)

    def _start_engines(self) -> list:
        num_engines = self.args.rollout_num_gpus // self.args.rollout_num_gpus_per_engine
        make = ray.remote(SGLangEngine).options(num_gpus=0, placement_group=self.group)
        engines = [make.remote(self.args, rank) for rank in range(num_engines)]
        router = (self.args.sglang_router_ip, self.args.sglang_router_port)
        starts = []
        for engine in engines:
            host, port = ray.get(engine.get_node_ip_and_free_port.remote())
            starts.append(engine.init.remote(port, f"{host}:{port + 1}", *router))
        ray.get(starts)
        logger.info(f"{num_engines} SGLang engines are up")
        return engines

    def generate(self, rollout_id: int) -> list[dict]:
        output = self.generate_rollout(self.args, rollout_id, self.data_source)
        groups = output.samples if hasattr(output, "samples") else output
        return [self._train_item(sample) for group in groups for sample in group]

    def _train_item(self, sample) -> dict:
        mask = sample.loss_mask if sample.loss_mask is not None else [1] * sample.response_length
        assert len(mask) == sample.response_length, f"loss mask {len(mask)} != response {sample.response_length}"
        return {
            "tokens": sample.tokens,
            "loss_mask": mask,
            "response_length": sample.response_length,
            "log_probs": sample.rollout_log_probs,
            "reward": sample.get_reward_value(self.args),
            "truncated": int(sample.status == sample.Status.TRUNCATED),
        }

    def get_engines(self) -> list:
        return self.engines

    def dispose(self) -> None:
        ray.get([engine.shutdown.remote() for engine in self.engines])
