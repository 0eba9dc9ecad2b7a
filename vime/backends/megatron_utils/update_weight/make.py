"""The sync that the arguments ask for."""

import ipaddress
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from vime.backends.megatron_utils.update_weight.session import WeightSync
from vime.backends.megatron_utils.update_weight.transports.choose import make_transport
from vime.utils.network import VIME_HOST_IP_ENV, address_towards


def make_sync(args: Any, urls: Sequence[str]) -> WeightSync:
    """A WeightSync to the engines at `urls` over --update-weight-transport; not connected yet."""
    return WeightSync(
        urls,
        make_transport(args, own_address(urls)),
        bucket_bytes=args.update_weight_buffer_size,
        pause_mode=args.update_weight_pause_mode,
        compare_in=args.dtype if args.check_weight_update_equal else None,
    )


def own_address(urls: Sequence[str]) -> str:
    """Where the engines at `urls` reach this process: loopback where all of them are there, else what VIME_HOST_IP says or
    the address of the way to the first that is not."""
    hosts = [urlsplit(url).hostname or "" for url in urls]
    away = next((host for host in hosts if not _is_loopback(host)), None)
    if away is None:
        return "::1" if hosts and all(":" in host for host in hosts) else "127.0.0.1"
    return os.environ.get(VIME_HOST_IP_ENV, "").strip("[]") or address_towards(away)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
