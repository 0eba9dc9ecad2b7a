"""A folder of safetensors files, read a slice at a time."""

import json
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from vime.backends.megatron_utils.weights.errors import WeightsError

_INDEX, _SINGLE = "model.safetensors.index.json", "model.safetensors"
_FIX = "fetch the model again"


class SafetensorsFolder:
    """Tensors by name. A file is opened when one of its tensors is first asked for; a context manager closes them."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._files = _files_by_name(self.folder)
        self._open: dict[str, Any] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "SafetensorsFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __contains__(self, name: str) -> bool:
        return name in self._files

    @property
    def names(self) -> frozenset[str]:
        """Of all its tensors."""
        return frozenset(self._files)

    def shape(self, name: str) -> tuple[int, ...]:
        """The tensor's shape."""
        return tuple(self._file(name).get_slice(name).get_shape())

    def read(self, name: str, dim: int | None = None, start: int = 0, end: int | None = None) -> Tensor:
        """The tensor, or its part from `start` to `end` along `dim` 0 or 1; only that is read from the file."""
        part = self._file(name).get_slice(name)
        try:
            if dim is None:
                return part[:]
            return part[start:end] if dim == 0 else part[:, start:end]
        except SafetensorError as error:
            raise WeightsError(f"{name} in {self._files[name]}", str(error), _FIX) from error

    def _file(self, name: str) -> Any:
        if name not in self._files:
            raise WeightsError(str(self.folder), f"it has no tensor {name}", "name the folder of a model of this shape")
        path = self._files[name]
        if path not in self._open:
            try:
                self._open[path] = self._stack.enter_context(safe_open(self.folder / path, framework="pt"))
            except (OSError, SafetensorError) as error:
                raise WeightsError(str(self.folder / path), str(error), _FIX) from error
        if name not in self._open[path].keys():  # noqa: SIM118 - it is no dictionary
            raise WeightsError(str(self.folder / path), f"it has no tensor {name}, which {_INDEX} says", _FIX)
        return self._open[path]


def _files_by_name(folder: Path) -> dict[str, str]:
    index = folder / _INDEX
    try:
        if index.exists():
            files = json.loads(index.read_text("utf-8"))["weight_map"]
            if any(Path(file).name != file for file in files.values()):
                raise WeightsError(str(index), "it names files outside of its folder", _FIX)
            return dict(files)
        with safe_open(folder / _SINGLE, framework="pt") as file:
            return dict.fromkeys(file.keys(), _SINGLE)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError(str(folder), f"its weights cannot be read ({error!r})", _FIX) from error
