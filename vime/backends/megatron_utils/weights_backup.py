"""Several sets of weights for one model: the actor's, the reference's, an older actor's, kept in CPU memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from megatron.core.utils import unwrap_model
from torch import Tensor

Source = Callable[[], Iterable[tuple[str, Tensor]]]


def parameters_of(model: Sequence[torch.nn.Module]) -> Source:
    """The parameters of a model in chunks, under names that are unique over them."""

    def source() -> Iterator[tuple[str, Tensor]]:
        for number, chunk in enumerate(model):
            for name, parameter in unwrap_model(chunk).named_parameters():
                yield f"{number}.{name}", parameter

    return source


class WeightSets:
    """Copies of a model's weights under tags: "actor", "ref", "old_actor". The optimizer's master weights stay the
    actor's, so an update follows only when the actor's weights are back in the model."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._sets: dict[str, dict[str, Tensor]] = {}

    @property
    def backup_tags(self) -> list[str]:
        """Of the sets that there are."""
        return list(self._sets)

    def get(self, tag: str) -> Mapping[str, Tensor]:
        """The tensors of a set, on the CPU."""
        return self._sets[tag]

    @torch.no_grad()
    def backup(self, tag: str) -> None:
        """Keep the weights that are in the model now as `tag`."""
        kept = self._sets.setdefault(tag, {})
        for name, weights in self._source():
            if name not in kept:
                kept[name] = torch.empty_like(weights, device="cpu", pin_memory=weights.is_cuda)
            kept[name].copy_(weights, non_blocking=True)
        _wait()

    @torch.no_grad()
    def restore(self, tag: str) -> None:
        """Put the weights of `tag` into the model; what is there is kept only if `backup` did."""
        kept = self._sets[tag]
        for name, weights in self._source():
            weights.copy_(kept[name], non_blocking=True)
        _wait()

    def copy(self, *, src_tag: str, dst_tag: str) -> None:
        """Keep the weights of one set as another one too."""
        kept = self._sets.setdefault(dst_tag, {})
        for name, weights in self._sets[src_tag].items():
            kept[name] = weights.clone() if name not in kept else kept[name].copy_(weights)

    @contextmanager
    def using(self, tag: str, then: str = "actor") -> Iterator[None]:
        """The weights of `tag` for a while, and those of `then` afterwards, also after an error."""
        self.restore(tag)
        try:
            yield
        finally:
            self.restore(then)


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
