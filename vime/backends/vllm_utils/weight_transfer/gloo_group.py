"""A gloo group of a trainer (rank 0) and one engine's workers, apart from torch's global groups. Needs torch, not vLLM."""

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist

from vime.utils.network import address_towards

_POLL = 0.0005
_LOOK = 0.05
"""Seconds between two looks at a broadcast, and at whether somebody left."""


class PeerLeft(RuntimeError):
    """Another rank of the group gave up, or its process ended."""


class GlooGroup:
    """A joined group. What gloo itself cannot do, stop a broadcast that waits for a peer that will not come, goes through
    the meeting point: whoever leaves says so there, and all others stop waiting."""

    def __init__(self, group: dist.ProcessGroupGloo, store: dist.Store) -> None:
        self._group, self._store = group, store
        self._works: list[dist.Work] = []

    def broadcast(self, buffer: torch.Tensor) -> dist.Work:
        """Start to send (rank 0) or fill `buffer`, to be left alone until `wait` returned."""
        options = dist.BroadcastOptions()
        options.rootRank, options.rootTensor = 0, 0
        work = self._group.broadcast([buffer], options)
        self._works = [*(one for one in self._works if not one.is_completed()), work]
        return work

    def wait(self, work: dist.Work) -> None:
        """Until the broadcast is done. Raises PeerLeft, or the RuntimeError of a broken connection or a timeout."""
        look = time.monotonic() + _LOOK
        while not work.is_completed():
            time.sleep(_POLL)
            if time.monotonic() > look:
                look = time.monotonic() + _LOOK
                self._raise_if_left()
        work.wait()

    def close(self) -> None:
        """Leave: whoever waits for this rank gets PeerLeft at once. Does not wait for anybody."""
        with contextlib.suppress(RuntimeError):
            self._store.set("left", b"1")
        if any(not work.is_completed() for work in self._works):
            # Destroying a group waits for what is under way; this thread does, and nobody waits for it.
            threading.Thread(target=_bury, args=(self._group, tuple(self._works)), daemon=True).start()

    def _raise_if_left(self) -> None:
        try:
            left = self._store.check(["left"])
        except RuntimeError as error:
            raise PeerLeft("the process that opened the group ended") from error
        if left:
            raise PeerLeft("another rank left the group")


def _bury(group: dist.ProcessGroupGloo, works: Sequence[dist.Work]) -> None:
    for work in works:
        with contextlib.suppress(RuntimeError):
            work.wait()
    del group


def open_store(address: str, timeout: float) -> dist.TCPStore:
    """The meeting point, on a free port (`store.port`) of this host, which is met at `address`."""
    server = _server(address)
    port, wait = server.getsockname()[1], timedelta(seconds=timeout)
    return dist.TCPStore(
        address, port, is_master=True, timeout=wait, wait_for_workers=False, master_listen_fd=server.detach()
    )


def _server(address: str) -> socket.socket:
    """What listens for `address`: on loopback there alone, and not everywhere, as torch's own does."""
    family, *_, where = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
    host = where[0] if ipaddress.ip_address(where[0]).is_loopback else ""
    return socket.create_server((host, 0), family=family)


def reach_store(address: str, port: int, timeout: float) -> dist.TCPStore:
    """The meeting point that another process opened."""
    return dist.TCPStore(address, port, is_master=False, timeout=timedelta(seconds=timeout))


def announce(store: dist.Store, rank: int, shares: bool = False) -> None:
    """Tell the trainer that this worker is there, and whether it reached memory that both share."""
    store.set(f"here/{rank}", b"shares" if shares else b"apart")


def all_here(store: dist.Store, world_size: int) -> bool:
    """Whether every worker announced itself."""
    return store.check([f"here/{rank}" for rank in range(1, world_size)])


def decide(store: dist.Store, world_size: int) -> bool:
    """Whether weights go through shared memory: where all workers, which are there, reached it. They are told."""
    share = all(store.get(f"here/{rank}") == b"shares" for rank in range(1, world_size))
    store.set("way", b"shares" if share else b"apart")
    return share


def decided(store: dist.Store) -> bool:
    """The same in a worker, once the trainer decided."""
    return store.get("way") == b"shares"


def join(store: dist.TCPStore, rank: int, world_size: int, timeout: float) -> GlooGroup:
    """The group, once all `world_size` ranks joined. `timeout` seconds bound joining and every later broadcast.

    Raises RuntimeError when somebody does not come, or the connection fails.
    """
    options = dist.ProcessGroupGloo._Options()
    options._timeout = timedelta(seconds=timeout)
    options._devices = [dist.ProcessGroupGloo.create_device(hostname=address_towards(store.host))]
    return GlooGroup(dist.ProcessGroupGloo(dist.PrefixStore("gloo", store), rank, world_size, options), store)
