"""Small helpers that rollout functions import from here. Heavy libraries are imported when they are used."""

import importlib
import subprocess
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from vime.utils.network import get_free_port, get_host_info, is_port_available
from vime.utils.replay import decode_int32_meta_array

__all__ = [
    "Box",
    "SingletonMeta",
    "chunk_named_params_by_size",
    "decode_int32_meta_array",
    "exec_command",
    "get_current_node_ip",
    "get_free_port",
    "group_by",
    "is_port_available",
    "load_function",
    "should_run_periodic_action",
]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@cache
def load_function(path: str) -> Any:
    """The object at a dotted `path`, "package.module.name". A wrong path says which part is missing."""
    module_path, _, name = path.rpartition(".")
    if not module_path:
        raise ValueError(f"{path!r} is not a dotted path of the form package.module.name")
    module = importlib.import_module(module_path)
    try:
        return getattr(module, name)
    except AttributeError:
        raise ImportError(f"module {module_path} has no {name!r}", name=module_path) from None


class SingletonMeta(type):
    """One instance a class and process, made by the first call. For translated code; what belongs to an event loop or a
    run is owned there instead (see GenerateState)."""

    _instances: dict[type, Any] = {}  # noqa: RUF012  one table for all, so that clear_instances clears all

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls not in SingletonMeta._instances:
            SingletonMeta._instances[cls] = super().__call__(*args, **kwargs)
        return SingletonMeta._instances[cls]

    def clear_instances(cls) -> None:
        SingletonMeta._instances.clear()


class Box:
    """Keeps what it holds from being taken apart, by Ray above all."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def inner(self) -> Any:
        return self._inner


def exec_command(cmd: str, capture_output: bool = False) -> str | None:
    """Run `cmd` in bash and show it first; its standard output if asked for. Raises CalledProcessError."""
    print(f"+ {cmd}", flush=True)
    done = subprocess.run(["bash", "-c", cmd], check=True, capture_output=capture_output, text=True)
    return done.stdout


def get_current_node_ip() -> str:
    """The address at which this node's other processes are reached."""
    return get_host_info()[1].strip("[]")


def should_run_periodic_action(
    rollout_id: int, interval: int | None, num_rollout_per_epoch: int | None = None, num_rollout: int | None = None
) -> bool:
    """Whether to evaluate or save after this rollout: each `interval`, at an epoch's end, after the last one."""
    if interval is None:
        return False
    done = rollout_id + 1
    return (
        done == num_rollout or done % interval == 0 or bool(num_rollout_per_epoch and done % num_rollout_per_epoch == 0)
    )


def group_by(iterable: Iterable[T], key: Callable[[T], K] | None = None) -> dict[K | T, list[T]]:
    """Items by key, in the order in which they came; they need not be sorted."""
    groups: dict[Any, list[T]] = defaultdict(list)
    for item in iterable:
        groups[item if key is None else key(item)].append(item)
    return dict(groups)


def chunk_named_params_by_size(
    named_params: Iterable[tuple[str, Any]], chunk_size: int
) -> Iterator[list[tuple[str, Any]]]:
    """Runs of parameters that stay below `chunk_size` bytes; one that is larger stands alone."""
    chunk: list[tuple[str, Any]] = []
    held = 0
    for name, param in named_params:
        if chunk and held + param.nbytes >= chunk_size:
            yield chunk
            chunk, held = [], 0
        chunk.append((name, param))
        held += param.nbytes
    if chunk:
        yield chunk
