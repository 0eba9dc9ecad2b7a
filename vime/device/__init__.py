"""CPU or GPU: the only module that knows. It chooses the collective backend, number format, threads, and the engine's set-up.

Detection reads files, not torch, so that a command which starts nothing stays fast.
"""

import importlib.util
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class Device:
    """What to compute on, and all that follows from it."""

    kind: Kind
    count: int
    """GPUs that can be seen; on a CPU, cores."""
    why: str
    """What it was chosen by."""

    @property
    def is_cpu(self) -> bool:
        """Whether there is no GPU."""
        return self.kind == "cpu"

    @property
    def backend(self) -> Literal["gloo", "nccl"]:
        """The backend of torch.distributed."""
        return "gloo" if self.is_cpu else "nccl"

    @property
    def dtype(self) -> str:
        """The number format where none is asked for. On a CPU float32, in which engine and trainer agree to 1e-5."""
        return "float32" if self.is_cpu else "bfloat16"

    @property
    def trainer_threads(self) -> int | None:
        """Threads of a trainer rank; None leaves it to torch. One is fastest beside an engine on few cores."""
        return 1 if self.is_cpu else None

    def weight_transport(self, colocate: bool) -> Literal["gloo", "nccl", "ipc"]:
        """How weights travel where nothing else is asked for."""
        if self.is_cpu:
            return "gloo"
        return "ipc" if colocate else "nccl"

    def trainer_env(self) -> dict[str, str]:
        """Environment of a trainer rank, to be set before torch is imported."""
        return {"OMP_NUM_THREADS": str(self.trainer_threads)} if self.is_cpu else {}

    def engine_env(self, deterministic: bool = False) -> dict[str, str]:
        """Environment of an engine's process. On a CPU: no compilation, one process and one thread, which start fastest.

        `deterministic` asks for kernels whose results do not depend on the batch; vLLM has them for GPUs alone.
        """
        if not self.is_cpu:
            return {"VLLM_BATCH_INVARIANT": "1"} if deterministic else {}
        return {
            "TORCHDYNAMO_DISABLE": "1",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": "1",
            "VIME_ENGINE_ON_CPU": "1",
            # Weights are packed anew at every sync: with large pages a third faster.
            "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        }

    def engine_options(self, dtype: str, seeded: bool = False) -> dict[str, Any]:
        """Options of the engine (`vllm_...` without the prefix) where the user gave none.

        `seeded`: its requests have seeds, of which vLLM's CPU engine dies where it reads a prompt in chunks.
        """
        if not self.is_cpu:
            return {"dtype": dtype}
        return {"dtype": dtype, "enforce_eager": True} | ({"enable_chunked_prefill": False} if seeded else {})


def detect(
    asked: str = "auto", environ: Mapping[str, str] = os.environ, root: Path = Path("/"), cuda_build: bool | None = None
) -> Device:
    """The device: as `asked`, or what is found. `cuda_build` says whether torch can use GPUs; looked up when None."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gpus = _visible(environ, len(list((root / "dev").glob("nvidia[0-9]*"))))
    if asked == "cpu":
        return Device("cpu", cores, "as asked")
    if asked == "cuda":
        return Device("cuda", gpus, "as asked")
    if not gpus:
        return Device("cpu", cores, "no GPU was found")
    if not (_torch_has_cuda() if cuda_build is None else cuda_build):
        return Device("cpu", cores, "the installed torch is built for CPUs")
    return Device("cuda", gpus, f"{gpus} GPU{'s' if gpus > 1 else ''} found")


def _visible(environ: Mapping[str, str], present: int) -> int:
    """How many of the `present` GPUs CUDA_VISIBLE_DEVICES leaves; it ends at the first that is not there."""
    listed = environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return present
    count = 0
    for one in listed.split(","):
        if not one.strip() or one.strip().startswith("-") or (one.strip().isdigit() and int(one) >= present):
            break
        count += 1
    return min(count, present)


def _torch_has_cuda() -> bool:
    """Whether the installed torch was built with CUDA, by its version file; True where that does not tell."""
    try:
        spec = importlib.util.find_spec("torch")
        text = (Path(spec.origin).parent / "version.py").read_text() if spec and spec.origin else ""
    except (OSError, ValueError):
        text = ""
    return not re.search(r"^cuda\b[^=\n]*=\s*None\s*$", text, re.MULTILINE)
