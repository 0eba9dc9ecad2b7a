import ray
from ray.util.placement_group import placement_group

from slime.ray.rollout import RolloutManager


def create_placement_groups(args) -> dict[str, object]:
    """GPUs for the actor and for the rollout: the same ones when they are colocated, else apart."""
    num_actor = args.actor_num_nodes * args.actor_num_gpus_per_node
    actor = _reserve(num_actor)
    return {"actor": actor, "rollout": actor if args.colocate else _reserve(args.rollout_num_gpus)}


def _reserve(num_gpus: int):
    group = placement_group([{"GPU": 1, "CPU": 1}] * num_gpus, strategy="PACK")
    ray.get(group.ready())
    return group


def create_rollout_manager(args, group):
    return ray.remote(RolloutManager).options(num_cpus=1, num_gpus=0).remote(args, group)
