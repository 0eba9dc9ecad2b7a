"""Which slots the trainer's ranks and the engines get. A slot is a GPU, or on a CPU a process."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import ray
from ray.util.placement_group import PlacementGroup, placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from vime.device import Device
from vime.errors import RunError

_PATIENCE = 600.0
"""Seconds until a cluster that does not have the slots is an error."""


@dataclass(frozen=True)
class Slot:
    """A bundle of the placement group, where it is, and the GPU there (0 on a CPU)."""

    bundle: int
    node: str
    gpu: int


@dataclass(frozen=True)
class Placement:
    """Slots in the order of nodes and GPUs; with --colocate trainer and engines have the same."""

    group: PlacementGroup
    trainer: tuple[Slot, ...]
    engines: tuple[Slot, ...]

    def strategy(self, slot: Slot) -> PlacementGroupSchedulingStrategy:
        """Where an actor on this slot is scheduled."""
        return PlacementGroupSchedulingStrategy(self.group, placement_group_bundle_index=slot.bundle)


def place(args: Namespace, device: Device) -> Placement:
    """Reserve the slots of a run. Raises RunError where the cluster does not have them."""
    total, first_engine = _get_placement_group_layout(args)
    slots, group = _create_placement_group(total, device)
    ranks = 0 if args.debug_rollout_only else args.actor_num_nodes * args.actor_num_gpus_per_node
    return Placement(group, slots[:ranks], slots[first_engine:])


def _get_placement_group_layout(args: Namespace) -> tuple[int, int]:
    """(slots in all, the first that is an engine's)."""
    ranks = args.actor_num_nodes * args.actor_num_gpus_per_node
    if args.debug_train_only:
        return ranks, ranks
    if args.debug_rollout_only:
        return args.rollout_num_gpus, 0
    if args.rollout_external:
        return ranks, ranks
    if args.colocate:
        return max(ranks, args.rollout_num_gpus), 0
    return ranks + args.rollout_num_gpus, ranks


def _create_placement_group(count: int, device: Device) -> tuple[tuple[Slot, ...], PlacementGroup]:
    bundle = {"CPU": 1} if device.is_cpu else {"CPU": 1, "GPU": 1}
    group = placement_group([bundle] * count, strategy="PACK")
    if not ray.wait([group.ready()], timeout=_PATIENCE)[0]:
        have = ray.cluster_resources().get("CPU" if device.is_cpu else "GPU", 0)
        raise RunError(
            f"{count} slots are needed and the cluster has {have:g}", "ask for fewer, or add nodes to the cluster"
        )
    return _in_order(_cpu_slots(group, count) if device.is_cpu else _gpu_slots(group, count)), group


def _cpu_slots(group: PlacementGroup, count: int) -> list[Slot]:
    nodes = ray.util.placement_group_table(group)["bundles_to_node_id"]
    return [Slot(index, nodes[index], 0) for index in range(count)]


def _gpu_slots(group: PlacementGroup, count: int) -> list[Slot]:
    """Only an actor that holds a GPU is told which one it is."""
    holders = [
        ray.remote(num_gpus=1)(InfoActor)
        .options(scheduling_strategy=PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=index))
        .remote()
        for index in range(count)
    ]
    found = ray.get([holder.get_ip_and_gpu_id.remote() for holder in holders])
    for holder in holders:
        ray.kill(holder)
    return [Slot(index, node, int(gpu)) for index, (node, gpu) in enumerate(found)]


def _in_order(slots: Sequence[Slot]) -> tuple[Slot, ...]:
    return tuple(sorted(slots, key=lambda slot: (_node_key(slot.node), slot.gpu, slot.bundle)))


def _node_key(node: str) -> tuple[int, int, str]:
    try:
        return 0, int(ip_address(node)), ""
    except ValueError:
        return 1, 0, node


class InfoActor:
    """Tells where it runs."""

    def get_ip_and_gpu_id(self) -> tuple[str, int]:
        return ray.util.get_node_ip_address(), ray.get_gpu_ids()[0]
