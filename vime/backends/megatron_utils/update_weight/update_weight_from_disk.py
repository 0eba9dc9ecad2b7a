"""Upstream's name for the updater."""

from vime.backends.megatron_utils.update_weight.updater import WeightUpdater as UpdateWeightFromDisk

__all__ = ["UpdateWeightFromDisk"]
