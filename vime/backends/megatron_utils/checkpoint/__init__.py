"""Checkpoints of the trainer: exact, whole or absent, and readable by another number of tensor- or data-parallel ranks."""

from vime.backends.megatron_utils.checkpoint.errors import CheckpointError
from vime.backends.megatron_utils.checkpoint.layout import is_checkpoint, latest_iteration
from vime.backends.megatron_utils.checkpoint.load import load_checkpoint
from vime.backends.megatron_utils.checkpoint.save import save_checkpoint
from vime.backends.megatron_utils.checkpoint.state import TrainState

__all__ = ["CheckpointError", "TrainState", "is_checkpoint", "latest_iteration", "load_checkpoint", "save_checkpoint"]
