"""Upstream's place of what --vllm-config says; see vime.config.engine_groups."""

from vime.config.engine_groups import ModelConfig, ServerGroupConfig, VllmConfig, VllmConfigError

__all__ = ["ModelConfig", "ServerGroupConfig", "VllmConfig", "VllmConfigError"]
