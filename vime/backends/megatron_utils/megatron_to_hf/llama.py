"""Upstream's module for this family."""

from vime.backends.megatron_utils.megatron_to_hf import convert_llama_to_hf

__all__ = ["convert_llama_to_hf"]
