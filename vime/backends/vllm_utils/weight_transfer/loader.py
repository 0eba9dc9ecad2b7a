"""Buckets into a model, several at once: where layers pack their weights that takes longer than the transfer. Runs in
vLLM's workers."""

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import torch
from vllm.model_executor.model_loader.mtp_validation import disable_mtp_completeness_check

from vime.backends.vllm_utils.weight_transfer.direct import DirectLayers
from vime.backends.vllm_utils.weight_transfer.views import Arrival, view_of

_ENOUGH = 16 * 1024**2
"""Bytes of tensors for which load_weights is called, which goes over all modules several times."""

_MOST_THREADS = 4

Named = list[tuple[str, torch.Tensor]]


class BucketLoader:
    """Takes buckets until it is left, which waits for all. `sharers` workers share this host's cores."""

    def __init__(self, model: torch.nn.Module, direct: DirectLayers, device: torch.device, sharers: int) -> None:
        self._model, self._direct, self._device = model, direct, device
        self._pool = ThreadPoolExecutor(_threads(sharers) if direct else 1, thread_name_prefix="weight-sync")
        self._loading: deque[Future[Named]] = deque()
        self._rest: Named = []
        self._failure: BaseException | None = None

    def __enter__(self) -> "BucketLoader":
        return self

    def take(self, arrival: Arrival) -> None:
        """Load a bucket, beside others. Once one failed, buckets are passed over; `finish` raises."""
        self._loading.append(self._pool.submit(self._load, arrival))
        self._collect(wait=False)
        if sum(tensor.nbytes for _, tensor in self._rest) >= _ENOUGH:
            self._hand_on()

    def finish(self) -> None:
        """Wait for all buckets. Raises what the first that failed raised."""
        self._hand_on()
        if self._failure is not None:
            raise self._failure

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._failure = self._failure or error
        self._pool.shutdown()

    def _load(self, arrival: Arrival) -> Named:
        """Load what goes into layers directly; copies of what does not."""
        bucket, buffer, release = arrival
        try:
            if self._failure is not None:
                return []
            tensors = (
                (meta.name, view_of(buffer, offset, meta.dtype, meta.shape).to(self._device))
                for meta, offset in zip(bucket.tensors, bucket.offsets, strict=True)
            )
            with torch.no_grad():
                return [(name, tensor.clone()) for name, tensor in self._direct.load(tensors)]
        except Exception as error:
            self._failure = self._failure or error
            return []
        finally:
            release()

    def _collect(self, wait: bool) -> None:
        while self._loading and (wait or self._loading[0].done()):
            self._rest += self._loading.popleft().result()

    def _hand_on(self) -> None:
        """Give the model what no layer took directly. No layer is being packed meanwhile."""
        self._collect(wait=True)
        rest, self._rest = self._rest, []
        if not rest or self._failure is not None:
            return
        try:
            with disable_mtp_completeness_check():
                self._model.load_weights(rest)
        except Exception as error:
            self._failure = error


def _threads(sharers: int) -> int:
    """As many as there are cores for, where each uses as many as torch does."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MOST_THREADS, max(1, cores // (sharers * torch.get_num_threads())))
