"""`python -m vime.backends.vllm_utils.serve MODEL ...`: `vllm serve`, made for rollouts where the device is a CPU."""

import importlib
import os
import sys
from collections.abc import Sequence

from vime.backends.vllm_utils.cpu_platform import install
from vime.backends.vllm_utils.weight_transfer import register

ON_CPU = "VIME_ENGINE_ON_CPU"
"""Environment variable: 1 says that the engine computes on a CPU."""

_NEEDED_BY_ENGINES = ("vllm.v1.engine.core", "vllm.v1.worker.cpu_worker")
"""What its forked processes would each import."""


def main(argv: Sequence[str]) -> None:
    """Serve until a signal ends it. `argv` are the arguments of `vllm serve`."""
    if os.environ.get(ON_CPU) == "1":
        install()
        for module in _NEEDED_BY_ENGINES:
            importlib.import_module(module)
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


if __name__ == "__main__":
    main(sys.argv[1:])
