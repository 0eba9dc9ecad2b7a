"""Megatron-core on a CPU: what it asks of "cuda" is answered by the CPU. Nothing here claims that a tensor is on a GPU.

Megatron-core writes `device="cuda"`, `.cuda()` and `torch.cuda.current_device()` in the middle of its schedules and
optimizers. A torch function mode turns such a device into the CPU; the few functions of `torch.cuda` that are called
directly are replaced while the shim is in force.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_CPU = torch.device("cpu")

_REPLACED: dict[str, Callable[..., Any]] = {
    "current_device": lambda: _CPU,
    "synchronize": lambda device=None: None,
    "manual_seed": lambda seed: None,
    "get_rng_state": lambda device=None: torch.get_rng_state(),
    "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
}
"""Functions of torch.cuda, and what they are on a CPU."""


class _Mode(TorchFunctionMode):
    """A device that names a GPU is the CPU; memory is not pinned."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.Tensor.to:
            args = tuple(_on_cpu(value) for value in args)
        if kwargs:
            kwargs = {name: _on_cpu(value) if name == "device" else value for name, value in kwargs.items()}
            if kwargs.get("pin_memory"):
                kwargs["pin_memory"] = False
        return func(*args, **(kwargs or {}))


def _on_cpu(value: Any) -> Any:
    names_gpu = isinstance(value, str | torch.device) and str(value).startswith("cuda")
    return _CPU if names_gpu else value


class CpuShim:
    """In force from `start` to `stop`, or as a context manager; for the thread that starts it."""

    def __init__(self) -> None:
        self._mode = _Mode()
        self._before: dict[str, Callable[..., Any]] = {}

    def start(self) -> "CpuShim":
        """Put it in force."""
        self._before = {name: getattr(torch.cuda, name) for name in _REPLACED}
        for name, function in _REPLACED.items():
            setattr(torch.cuda, name, function)
        self._mode.__enter__()
        return self

    def stop(self) -> None:
        """Take it away."""
        self._mode.__exit__(None, None, None)
        for name, function in self._before.items():
            setattr(torch.cuda, name, function)

    def __enter__(self) -> "CpuShim":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
