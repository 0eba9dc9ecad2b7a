"""vLLM's platform for CPUs, with two things put right for rollouts. Used inside the server, where vLLM is.

- Its processes are forked. vLLM spawns them, so that each imports vLLM anew, which is most of a start.
- A request with a seed of its own is refused where its prompt may be read in chunks. vLLM 0.32 takes it, and dies.
"""

import ctypes
import os
import signal
from typing import Any

_PR_SET_PDEATHSIG = 1


def install() -> None:
    """Put the platform in the place of vLLM's own, as vLLM's own command line does; nothing where that is not a CPU's.

    To be called before anything of vLLM that asks for its platform is imported.
    """
    from vllm import platforms
    from vllm.platforms.cpu import CpuPlatform

    found = type(platforms.current_platform)
    if issubclass(found, CpuPlatform):
        platforms.current_platform = _for_rollouts(found)()
        os.register_at_fork(after_in_child=_die_with_parent)


def _for_rollouts(base: type) -> type:
    from vllm.exceptions import VLLMValidationError

    class RolloutCpuPlatform(base):  # type: ignore[misc,valid-type]
        chunked_prefill = True

        @classmethod
        def check_and_update_config(cls, vllm_config: Any) -> None:
            super().check_and_update_config(vllm_config)
            cls.chunked_prefill = vllm_config.scheduler_config.enable_chunked_prefill
            os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "fork"

        @classmethod
        def validate_request(cls, processed_inputs: Any, params: Any) -> None:
            super().validate_request(processed_inputs, params)
            if cls.chunked_prefill and getattr(params, "seed", None) is not None:
                raise VLLMValidationError(
                    "a request with a seed whose prompt is read in chunks kills vLLM's CPU engine; "
                    "leave sampling_seed out, or start the run with --vllm-no-enable-chunked-prefill",
                    parameter="seed",
                )

    return RolloutCpuPlatform


def _die_with_parent() -> None:
    # The main thread forks, so the signal comes when the whole process ends.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
