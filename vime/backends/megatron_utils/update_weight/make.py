"""The sync that the arguments ask for."""

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vime.backends.megatron_utils.update_weight.engines import Transport
from vime.backends.megatron_utils.update_weight.session import WeightSync
from vime.utils.misc import load_function
from vime.utils.network import get_host_info


def make_sync(args: Any, urls: Sequence[str]) -> WeightSync:
    """A WeightSync to the engines at `urls` over --update-weight-transport; not connected yet."""
    return WeightSync(
        urls,
        _TRANSPORTS[args.update_weight_transport](args, urls),
        bucket_bytes=args.update_weight_buffer_size,
        compare_in=args.dtype if args.check_weight_update_equal else None,
    )


def _gloo(args: Any, urls: Sequence[str]) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.gloo import GlooTransport

    return GlooTransport(address=_own_address(urls), workers=args.rollout_num_gpus_per_engine)


def _nccl(args: Any, urls: Sequence[str]) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.nccl import NcclTransport

    workers = [args.rollout_num_gpus_per_engine] * len(urls)
    return NcclTransport(address=_own_address(urls), workers=workers, buffer_bytes=args.update_weight_buffer_size)


def _ipc(args: Any, urls: Sequence[str]) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.ipc import IpcTransport

    return IpcTransport(buffer_bytes=args.update_weight_buffer_size)


def _disk(args: Any, urls: Sequence[str]) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.disk import DiskTransport

    hook = args.custom_update_weight_post_write_path and load_function(args.custom_update_weight_post_write_path)
    return DiskTransport(
        Path(args.update_weight_disk_dir),
        keep_files=args.update_weight_disk_keep_files,
        local_dir=args.update_weight_local_checkpoint_dir,
        after_write=(lambda folder: hook(args, folder, list(urls))) if hook else None,
    )


_TRANSPORTS: Mapping[str, Callable[[Any, Sequence[str]], Transport]] = {
    "gloo": _gloo,
    "nccl": _nccl,
    "ipc": _ipc,
    "disk": _disk,
}


def _own_address(urls: Sequence[str]) -> str:
    """Where engines reach this process: loopback where all of them are there."""
    return "127.0.0.1" if all(_is_loopback(urlsplit(url).hostname or "") for url in urls) else get_host_info()[1]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
