"""The weights of another model of the same shape, kept beside the one that is trained."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch


class OtherWeights:
    """A copy of a model's weights, which may take their place for a while.

    Exchanged parameter by parameter, in place: no third copy is ever made, and the optimizer's views stay valid.
    """

    def __init__(self, model: Sequence[torch.nn.Module]) -> None:
        self._weights = [parameter.detach().clone() for parameter in _parameters(model)]

    def take(self, model: Sequence[torch.nn.Module]) -> None:
        """Become a copy of the model's weights as they are now."""
        with torch.no_grad():
            for kept, parameter in zip(self._weights, _parameters(model), strict=True):
                kept.copy_(parameter)

    @contextmanager
    def in_force(self, model: Sequence[torch.nn.Module]) -> Iterator[None]:
        """The model has these weights inside, and its own again afterwards, whatever happens."""
        self._exchange(model)
        try:
            yield
        finally:
            self._exchange(model)

    @torch.no_grad()
    def _exchange(self, model: Sequence[torch.nn.Module]) -> None:
        for kept, parameter in zip(self._weights, _parameters(model), strict=True):
            own = parameter.detach().clone()
            parameter.copy_(kept)
            kept.copy_(own)


def _parameters(model: Sequence[torch.nn.Module]) -> Iterator[torch.nn.Parameter]:
    for chunk in model:
        yield from chunk.parameters()
