"""The whole schema: the framework's own options and those of vLLM and Megatron-core."""

from vime.config.option import Option
from vime.config.schema import NotInstalled, Package, Schema, own_options


def schema() -> Schema:
    """A schema that looks into the installed packages when it is asked for their options."""
    return Schema(own_options(), (Package("vllm", "vllm-", _vllm), Package("megatron", "", _megatron)))


def _vllm() -> tuple[Option, ...]:
    raise NotInstalled("vLLM is not installed", "install it")


def _megatron() -> tuple[Option, ...]:
    raise NotInstalled("Megatron-core is not installed", "install it")
