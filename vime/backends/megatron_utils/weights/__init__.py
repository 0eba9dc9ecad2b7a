"""Weights between Hugging Face's names and Megatron-core's: one table, read in both directions, one tensor at a time."""

from vime.backends.megatron_utils.weights.export import hf_tensors
from vime.backends.megatron_utils.weights.load import load_hf
from vime.backends.megatron_utils.weights.save import save_hf

__all__ = ["hf_tensors", "load_hf", "save_hf"]
