"""The whole schema: the framework's own options, and those of the installed vLLM and Megatron-core."""

import sys

from vime.config.option import Option
from vime.config.schema import Package, Schema, own_options


def schema(python: str = sys.executable) -> Schema:
    """A schema that looks into the packages of `python` when it is asked for their options."""

    def vllm() -> tuple[Option, ...]:
        from vime.config.introspect.catalogue import VLLM, options_of_package

        return options_of_package(VLLM, python)

    def megatron() -> tuple[Option, ...]:
        from vime.config.introspect.catalogue import MEGATRON, options_of_package

        return options_of_package(MEGATRON, python)

    return Schema(own_options(), (Package("vllm", "vllm-", vllm), Package("megatron", "", megatron)))
