"""Reinforcement learning for language models: Megatron trains, SGLang rolls out."""

__version__ = "0.2.4"
