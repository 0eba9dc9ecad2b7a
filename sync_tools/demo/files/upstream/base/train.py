import ray

from slime.backends.megatron_utils.actor import MegatronTrainRayActor
from slime.ray.actor_group import RayTrainGroup
from slime.ray.placement_group import create_placement_groups, create_rollout_manager
from slime.utils.arguments import parse_args
from slime.utils.logging_utils import configure_logger, finish_tracking, init_tracking
from slime.utils.misc import should_run_periodic_action


def train(args):
    configure_logger()
    init_tracking(args)
    groups = create_placement_groups(args)
    rollout_manager = create_rollout_manager(args, groups["rollout"])
    actor = RayTrainGroup(args, groups["actor"], MegatronTrainRayActor)

    # The SGLang engines started from the checkpoint; from here on they get the actor's weights.
    actor.update_weights()
    for rollout_id in range(args.num_rollout):
        data = rollout_manager.generate.remote(rollout_id)
        ray.get(actor.async_train(rollout_id, data))
        if should_run_periodic_action(rollout_id, args.save_interval, args.num_rollout):
            actor.save_model(rollout_id)
        actor.update_weights()

    ray.get(rollout_manager.dispose.remote())
    finish_tracking(args)


if __name__ == "__main__":
    train(parse_args())
