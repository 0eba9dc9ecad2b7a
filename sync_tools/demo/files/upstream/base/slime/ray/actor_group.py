import ray


class RayTrainGroup:
    """The training workers, one for each GPU, spoken to all at once."""

    def __init__(self, args, group, worker_class):
        size = args.actor_num_nodes * args.actor_num_gpus_per_node
        make = ray.remote(worker_class).options(num_gpus=0.8, placement_group=group)
        self.workers = [make.remote(args, rank, size) for rank in range(size)]

    def async_train(self, rollout_id: int, data) -> list:
        return [worker.train.remote(rollout_id, data) for worker in self.workers]

    def update_weights(self) -> None:
        ray.get([worker.update_weights.remote() for worker in self.workers])

    def save_model(self, rollout_id: int) -> None:
        ray.get([worker.save_model.remote(rollout_id) for worker in self.workers])
