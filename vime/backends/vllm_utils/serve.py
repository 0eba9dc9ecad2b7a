"""`python -m vime.backends.vllm_utils.serve MODEL ...`: `vllm serve`, made for rollouts where the device is a CPU.

Importing vLLM is most of a start. Left to itself vLLM does it in each of its processes, and once more to look at the
model's class where its cache does not know that yet. Here it is done once.
"""

import gc
import importlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vime.backends.vllm_utils.cpu_platform import install
from vime.backends.vllm_utils.weight_transfer import register

ON_CPU = "VIME_ENGINE_ON_CPU"
"""Environment variable: 1 says that the engine computes on a CPU."""

_NEEDED_BY_ENGINES = ("vllm.v1.engine.core", "vllm.v1.worker.cpu_worker", "vllm.entrypoints.cli.serve")


def main(argv: Sequence[str]) -> None:
    """Serve until a signal ends it. `argv` are the arguments of `vllm serve`, the model's folder first."""
    if os.environ.get(ON_CPU) == "1":
        with _many_imports():
            install()
            for module in _NEEDED_BY_ENGINES:
                importlib.import_module(module)
            _import_model(Path(argv[0]))
    register()  # where the package is on the path and not installed, vLLM finds no plugin

    from vllm.entrypoints.cli.serve import ServeSubcommand
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
    from vllm.logger import configure_logging_from_args
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    cli_env_setup()
    args = make_arg_parser(FlexibleArgumentParser()).parse_args(argv)
    configure_logging_from_args(args)
    command = ServeSubcommand()
    command.validate(args)
    command.cmd(args)


@contextmanager
def _many_imports() -> Iterator[None]:
    """What is imported inside stays for good: looking for garbage among it costs a sixth of the time, and finds none."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _import_model(folder: Path) -> None:
    """Make vLLM know the model's class as one that is imported, which it then looks at without a process of its own."""
    from vllm.model_executor.models import ModelRegistry

    try:
        names = json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or []
    except (OSError, ValueError):
        return  # vLLM says what is wrong with the folder
    for name in names:
        if name in ModelRegistry.models:
            ModelRegistry.register_model(name, ModelRegistry.models[name].load_model_cls())


if __name__ == "__main__":
    main(sys.argv[1:])
