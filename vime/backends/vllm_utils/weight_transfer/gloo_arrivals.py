"""Buckets as a worker receives them over gloo. Needs torch, not vLLM."""

import queue
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial

import torch

from vime.backends.vllm_utils.weight_transfer.gloo_group import GlooGroup
from vime.backends.vllm_utils.weight_transfer.layout import Bucket
from vime.backends.vllm_utils.weight_transfer.views import Arrival

_PLACES = 3
"""Buckets that are under way, or being loaded."""

_KEPT = 64 * 1024**2
"""Bytes of a bucket up to which its buffer is kept for the next: fresh memory costs as much time as the transfer."""


class GlooArrivals:
    """A worker's end. While a bucket is being loaded, the next ones are on their way."""

    def __init__(self, group: GlooGroup) -> None:
        self._group = group
        self._buffers = [torch.empty(0, dtype=torch.uint8)] * _PLACES
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for place in range(_PLACES):
            self._free.put(place)

    def received(self, buckets: Iterable[Bucket]) -> Iterator[Arrival]:
        """Each bucket as it comes. Raises PeerLeft, or the RuntimeError of a broken connection or a timeout."""
        to_come, under_way = deque(buckets), deque()
        while to_come or under_way:
            while to_come and (place := self._place(wait=not under_way)) is not None:
                bucket = to_come.popleft()
                buffer = self._buffer(place, bucket.nbytes)
                under_way.append((bucket, place, buffer, self._group.broadcast(buffer)))
            bucket, place, buffer, work = under_way.popleft()
            self._group.wait(work)
            yield bucket, buffer, partial(self._free.put, place)

    def close(self) -> None:
        """Leave: whoever waits for this worker gets PeerLeft at once."""
        self._group.close()

    def _place(self, wait: bool) -> int | None:
        try:
            return self._free.get(block=wait)
        except queue.Empty:
            return None

    def _buffer(self, place: int, nbytes: int) -> torch.Tensor:
        """Memory for a bucket. What was in this place before is overwritten."""
        if nbytes > _KEPT:
            return torch.empty(nbytes, dtype=torch.uint8)
        if self._buffers[place].numel() < nbytes:
            self._buffers[place] = torch.empty(nbytes, dtype=torch.uint8)
        return self._buffers[place][:nbytes]
