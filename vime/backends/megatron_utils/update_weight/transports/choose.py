"""The transport that the arguments ask for. Each is imported only when it is used."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vime.backends.megatron_utils.update_weight.engines import Transport
from vime.utils.misc import load_function


def make_transport(args: Any, address: str) -> Transport:
    """The transport of --update-weight-transport; `address` is where engines reach this process."""
    return _TRANSPORTS[args.update_weight_transport](args, address)


def _gloo(args: Any, address: str) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.gloo import GlooTransport

    return GlooTransport(address=address)


def _nccl(args: Any, address: str) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.nccl import NcclTransport

    return NcclTransport(address=address, buffer_bytes=args.update_weight_buffer_size)


def _ipc(args: Any, address: str) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.ipc import IpcTransport

    return IpcTransport(buffer_bytes=args.update_weight_buffer_size)


def _disk(args: Any, address: str) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.disk import DiskTransport

    hook = args.custom_update_weight_post_write_path and load_function(args.custom_update_weight_post_write_path)
    return DiskTransport(
        Path(args.update_weight_disk_dir),
        keep_files=args.update_weight_disk_keep_files,
        local_dir=args.update_weight_local_checkpoint_dir,
        after_write=(lambda folder, urls: hook(args, folder, urls)) if hook else None,
    )


_TRANSPORTS: Mapping[str, Callable[[Any, str], Transport]] = {"gloo": _gloo, "nccl": _nccl, "ipc": _ipc, "disk": _disk}
