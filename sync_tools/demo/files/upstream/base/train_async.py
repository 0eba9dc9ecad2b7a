import ray

from slime.backends.megatron_utils.actor import MegatronTrainRayActor
from slime.ray.actor_group import RayTrainGroup
from slime.ray.placement_group import create_placement_groups, create_rollout_manager
from slime.utils.arguments import parse_args
from slime.utils.logging_utils import configure_logger, finish_tracking, init_tracking


# One rollout ahead of the training; examples/fully_async goes further.
def train(args):
    assert not args.colocate, "the asynchronous loop needs GPUs of its own for the rollout"
    configure_logger()
    init_tracking(args)
    groups = create_placement_groups(args)
    rollout_manager = create_rollout_manager(args, groups["rollout"])
    actor = RayTrainGroup(args, groups["actor"], MegatronTrainRayActor)
    actor.update_weights()

    upcoming = rollout_manager.generate.remote(0)
    for rollout_id in range(args.num_rollout):
        data = ray.get(upcoming)
        if rollout_id + 1 < args.num_rollout:
            upcoming = rollout_manager.generate.remote(rollout_id + 1)
        ray.get(actor.async_train(rollout_id, data))
        if (rollout_id + 1) % args.update_weights_interval == 0:
            ray.wait([upcoming])
            actor.update_weights()

    ray.get(rollout_manager.dispose.remote())
    finish_tracking(args)


if __name__ == "__main__":
    train(parse_args())
