"""`python -m vime.backends.vllm_utils.serve MODEL ...`: `vllm serve`, started faster on a CPU.

vLLM imports itself anew in each of its processes, which costs more than all the rest of the start. Here its modules are
imported once, and on a CPU its processes are forked from this one.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

FORK = "VIME_ENGINE_FORK"
"""Environment variable: 1 lets the engine's processes be forked."""

_PR_SET_PDEATHSIG = 1


def main(argv: Sequence[str]) -> None:
    """Serve until a signal ends it. `argv` are the arguments of `vllm serve`."""
    if os.environ.get(FORK) == "1":
        _fork_on_cpu()
    from vllm.entrypoints.cli.serve import ServeSubcommand
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
    from vllm.logger import configure_logging_from_args
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    _register_weight_transfer()
    cli_env_setup()
    args = make_arg_parser(FlexibleArgumentParser()).parse_args(argv)
    configure_logging_from_args(args)
    command = ServeSubcommand()
    command.validate(args)
    command.cmd(args)


def _fork_on_cpu() -> None:
    """Put a platform in place of vLLM's for CPUs that differs in one thing: processes are forked, not spawned."""
    from vllm import platforms
    from vllm.platforms.cpu import CpuPlatform

    found = type(platforms.current_platform)
    if not issubclass(found, CpuPlatform):
        return

    class ForkingCpuPlatform(found):
        @classmethod
        def check_and_update_config(cls, vllm_config) -> None:
            super().check_and_update_config(vllm_config)
            os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "fork"

    platforms.current_platform = ForkingCpuPlatform()
    os.register_at_fork(after_in_child=_die_with_parent)

    import vllm.v1.engine.core
    import vllm.v1.worker.cpu_worker  # noqa: F401


def _die_with_parent() -> None:
    """The main thread forks, so the signal comes when the process ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _register_weight_transfer() -> None:
    """Make our weight transfer known also where the package is not installed, only on the path."""
    try:
        from vime.backends.vllm_utils.weight_transfer import register
    except ModuleNotFoundError:
        return
    register()


if __name__ == "__main__":
    main(sys.argv[1:])
