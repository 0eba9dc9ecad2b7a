"""A gloo group of a trainer (rank 0) and one engine's workers, apart from torch's global groups. Needs torch, not vLLM."""

import ipaddress
import socket
from datetime import timedelta

import torch
import torch.distributed as dist


class GlooGroup:
    """A joined group. `broadcast` sends from rank 0; a peer that is gone shows as an error of the returned work."""

    def __init__(self, group: dist.ProcessGroupGloo, store: dist.Store) -> None:
        self._group, self._store = group, store

    def broadcast(self, buffer: torch.Tensor) -> dist.Work:
        """Start to send (rank 0) or fill `buffer`, which stays untouched until the work is waited for."""
        options = dist.BroadcastOptions()
        options.rootRank, options.rootTensor = 0, 0
        return self._group.broadcast([buffer], options)

    def close(self) -> None:
        """Leave: whoever waits for this rank gets an error at once."""
        self._group.abort()
        self._group.shutdown()


def open_store(address: str, timeout: float) -> dist.TCPStore:
    """The meeting point, on a free port of this host (`store.port`)."""
    wait = timedelta(seconds=timeout)
    return dist.TCPStore(address, 0, is_master=True, timeout=wait, wait_for_workers=False)


def reach_store(address: str, port: int, timeout: float) -> dist.TCPStore:
    """The meeting point that another process opened."""
    return dist.TCPStore(address, port, is_master=False, timeout=timedelta(seconds=timeout))


def announce(store: dist.Store, rank: int) -> None:
    """Tell the trainer that this rank is about to join."""
    store.set(f"here/{rank}", b"1")


def all_here(store: dist.Store, world_size: int) -> bool:
    """Whether every worker announced itself."""
    return store.check([f"here/{rank}" for rank in range(1, world_size)])


def join(store: dist.TCPStore, rank: int, world_size: int, timeout: float) -> GlooGroup:
    """The group, once all `world_size` ranks joined. `timeout` seconds bound joining and every later broadcast.

    Raises RuntimeError when somebody does not come, or the connection fails.
    """
    options = dist.ProcessGroupGloo._Options()
    options._timeout = timedelta(seconds=timeout)
    options._devices = [_device(store.host)]
    return GlooGroup(dist.ProcessGroupGloo(dist.PrefixStore("gloo", store), rank, world_size, options), store)


def _device(address: str) -> dist.ProcessGroupGloo.Device:
    """The network device: loopback when the trainer is met there, else the one of this host's name."""
    if ipaddress.ip_address(socket.gethostbyname(address)).is_loopback:
        return dist.ProcessGroupGloo.create_device(hostname=address)
    return dist.ProcessGroupGloo.create_default_device()
