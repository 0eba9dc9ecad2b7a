"""Buckets in memory that a trainer shares with engines' workers on its host. Needs torch, not vLLM.

The memory has no name: a worker is handed its descriptor over a socket, and once the last process that has it ended,
in whatever way, it is gone. The socket has no file either, and only a process of the same host can reach it; that is how
both ends find out that they share a host. When one end ends, the other learns of it from the socket at once.
"""

import contextlib
import hmac
import mmap
import os
import secrets
import socket
import struct
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from vime.backends.vllm_utils.weight_transfer.gloo_group import PeerLeft
from vime.backends.vllm_utils.weight_transfer.layout import Bucket
from vime.backends.vllm_utils.weight_transfer.views import Arrival

_FILLED = struct.Struct("<QIQ")
"""Trainer to worker: number of the bucket, place where it lies, bytes. Memory new at this place comes along."""
_TAKEN = struct.Struct("<Q")
"""Worker to trainer: number of a bucket that it needs no longer."""
_SECRET_BYTES = 32
_SECRET_SECONDS = 0.5


def can_share() -> bool:
    """Whether this system has memory and sockets without names (Linux has)."""
    return hasattr(os, "memfd_create")


class Memory:
    """`bytes`, a uint8 tensor of at least `nbytes`, which other processes can have, too."""

    def __init__(self, nbytes: int) -> None:
        self.descriptor = os.memfd_create("vime-weights") if can_share() else -1
        if can_share():
            weakref.finalize(self, os.close, self.descriptor)
            os.ftruncate(self.descriptor, max(nbytes, 1))
        self.bytes = _mapped(self.descriptor, max(nbytes, 1))


class Meeting:
    """Where workers on this host find the trainer. `info` is what they need for it."""

    def __init__(self) -> None:
        name, self._secret = secrets.token_hex(16), secrets.token_bytes(_SECRET_BYTES)
        self.info = {"name": name, "secret": self._secret.hex()}
        self._socket = _socket()
        self._socket.bind(f"\0{name}")
        self._socket.listen()

    def __enter__(self) -> "Meeting":
        return self

    def __exit__(self, *failure: object) -> None:
        self._socket.close()

    def accept(self, workers: int, timeout: float) -> "SharedGroup":
        """The group with so many workers that reached this process. Raises TimeoutError when one does not come."""
        deadline, come = time.monotonic() + timeout, []
        while len(come) < workers:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{len(come)} of {workers} workers came within {timeout:g} s")
            self._socket.settimeout(left)
            worker, _ = self._socket.accept()
            if self._was_told(worker):
                worker.settimeout(timeout)
                come.append(worker)
            else:
                worker.close()
        return SharedGroup(come)

    def _was_told(self, worker: socket.socket) -> bool:
        """Whoever looks for sockets finds the name; only a worker was told the secret, and sends it at once."""
        worker.settimeout(_SECRET_SECONDS)
        try:
            return hmac.compare_digest(worker.recv(_SECRET_BYTES), self._secret)
        except OSError:
            return False


class SharedGroup:
    """The trainer's end: a way to all workers of one engine."""

    def __init__(self, workers: Sequence[socket.socket]) -> None:
        self._workers = [(worker, set()) for worker in workers]
        self._given: dict[int, Memory] = {}
        self._number = 0
        for worker in workers:
            weakref.finalize(self, worker.close)

    def send(self, place: int, memory: Memory, nbytes: int) -> int:
        """Tell every worker that a bucket is in the first `nbytes` of `memory`, to be left alone until `wait` returned
        for the number that is returned. Raises PeerLeft."""
        new = [] if self._given.get(place) is memory else [memory.descriptor]
        self._given[place] = memory
        self._number += 1
        for worker, under_way in self._workers:
            under_way.add(self._number)
            with _left_is_told():
                socket.send_fds(worker, [_FILLED.pack(self._number, place, nbytes)], new)
        return self._number

    def wait(self, number: int) -> None:
        """Until no worker needs that bucket any longer. Raises PeerLeft."""
        for worker, under_way in self._workers:
            while number in under_way:
                with _left_is_told():
                    under_way.remove(*_TAKEN.unpack(_received(worker.recv(_TAKEN.size))))

    def close(self) -> None:
        """Leave: whoever waits for this end, in any thread, gets PeerLeft at once."""
        for worker, _ in self._workers:
            _shut(worker)


class SharedArrivals:
    """A worker's end."""

    def __init__(self, trainer: socket.socket) -> None:
        self._trainer = trainer
        self._places: dict[int, torch.Tensor] = {}
        weakref.finalize(self, trainer.close)

    def received(self, buckets: Iterable[Bucket]) -> Iterator[Arrival]:
        """Each bucket as it comes, where the trainer wrote it. Raises PeerLeft."""
        for bucket in buckets:
            with _left_is_told():
                message, descriptors, _, _ = socket.recv_fds(self._trainer, _FILLED.size, 1)
                number, place, nbytes = _FILLED.unpack(_received(message))
            for descriptor in descriptors:
                self._places[place] = _mapped(descriptor, os.fstat(descriptor).st_size)
                os.close(descriptor)
            if nbytes != bucket.nbytes:
                raise ValueError(f"a bucket of {nbytes} bytes came for one of {bucket.nbytes}")
            yield bucket, self._places[place][:nbytes], partial(self._taken, number)

    def close(self) -> None:
        """Leave: the trainer gets PeerLeft at once."""
        _shut(self._trainer)

    def _taken(self, number: int) -> None:
        with _left_is_told():
            self._trainer.send(_TAKEN.pack(number))


def reach(info: Mapping[str, Any] | None, timeout: float) -> SharedArrivals | None:
    """The way to the trainer whose meeting has this `info`; None where it is on another host, or shares nothing."""
    if info is None or not can_share():
        return None
    trainer = _socket()
    trainer.settimeout(timeout)
    try:
        trainer.connect(f"\0{info['name']}")
        trainer.send(bytes.fromhex(info["secret"]))
    except OSError:
        trainer.close()
        return None
    return SharedArrivals(trainer)


def _socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _mapped(descriptor: int, nbytes: int) -> torch.Tensor:
    memory = mmap.mmap(descriptor, nbytes)
    with contextlib.suppress(AttributeError, OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=torch.uint8)


def _received(message: bytes) -> bytes:
    if not message:
        raise ConnectionResetError("its process ended, or gave up")
    return message


@contextlib.contextmanager
def _left_is_told() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise PeerLeft("the other end says nothing any more") from error
    except OSError as error:
        raise PeerLeft(f"the other end left: {error}") from error


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
