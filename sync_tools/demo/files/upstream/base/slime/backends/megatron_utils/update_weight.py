import logging

import ray

logger = logging.getLogger(__name__)


class UpdateWeightFromDisk:
    """Saves the actor's weights where every rollout engine can read them, and has the engines load them."""

    def __init__(self, args, save_hf, rollout_engines):
        self.args = args
        self.save_hf = save_hf
        self.rollout_engines = rollout_engines
        self.weight_version = 0

    def update_weights(self) -> None:
        self.weight_version += 1
        path = self.save_hf(f"{self.args.save}/hf/{self.weight_version}")
        ray.get([engine.pause_generation.remote() for engine in self.rollout_engines])
        ray.get([engine.flush_cache.remote() for engine in self.rollout_engines])
        ray.get(
            [engine.update_weights_from_disk.remote(path, str(self.weight_version)) for engine in self.rollout_engines]
        )
        ray.get([engine.continue_generation.remote() for engine in self.rollout_engines])
        logger.info(f"the SGLang engines hold weight version {self.weight_version}")
