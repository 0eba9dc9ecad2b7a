import ray

from slime.backends.megatron_utils.update_weight import UpdateWeightFromDisk
from slime.ray.ray_actor import RayActor


class MegatronTrainRayActor(RayActor):
    """One training worker. The model, the optimizer and the loss are Megatron's; this holds them together."""

    def __init__(self, args, rank: int, world_size: int):
        self.args = args
        self.rank = rank
        self.world_size = world_size
        self.updater = None

    def connect_rollout_engines(self, rollout_engines) -> None:
        self.updater = UpdateWeightFromDisk(self.args, self.save_hf, rollout_engines)

    def train(self, rollout_id: int, data) -> None:
        from megatron.training import train_step

        batch = ray.get(data) if isinstance(data, ray.ObjectRef) else data
        for item in batch[self.rank :: self.world_size]:
            train_step(item)

    def update_weights(self) -> None:
        if self.updater is not None:
            self.updater.update_weights()

    def save_hf(self, path: str) -> str:
        from megatron.bridge import save_hf_pretrained

        save_hf_pretrained(path)
        return path

    def save_model(self, rollout_id: int) -> None:
        self.save_hf(f"{self.args.save}/iter_{rollout_id:07d}")
