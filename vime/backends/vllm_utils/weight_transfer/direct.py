"""Layers on a CPU take their weight straight from where it was received. Runs in vLLM's workers.

vLLM's reload copies a received weight into a new one, packs that for multiplication, and copies it once more into the
old one where it keeps both. Here linear layers are packed from the bucket itself; embeddings and heads are written
into the weight they have, and only a head is packed. That is half the work which a sync of a large model waits for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

import torch
from vllm.model_executor.layers.linear import LinearBase, UnquantizedLinearMethod
from vllm.model_executor.layers.vocab_parallel_embedding import (
    ParallelLMHead,
    UnquantizedEmbeddingMethod,
    VocabParallelEmbedding,
)
from vllm.model_executor.model_loader.reload.layerwise import get_layerwise_info
from vllm.platforms import current_platform

from vime.backends.vllm_utils.weight_transfer.tied_head import tied_heads

Parts = Sequence[torch.Tensor]


@dataclass(eq=False)
class _Layer:
    """How a layer takes its weight, the names of the parts of which that is made, and copies of those that came alone."""

    take: Callable[[Parts], None]
    names: tuple[str, ...]
    parts: dict[str, torch.Tensor] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def load(self, parts: dict[str, torch.Tensor]) -> None:
        """Take the weight once all parts are there. Parts that do not come together are copied: a view of where they
        came ends with their bucket."""
        if len(parts) < len(self.names):
            copies = {name: part.clone() for name, part in parts.items()}
            with self.lock:
                self.parts |= copies
                if len(self.parts) < len(self.names):
                    return
                parts, self.parts = self.parts, {}
        self.take([parts[name] for name in self.names])


class DirectLayers:
    """The layers of a model that can be loaded so; none where no layer packs its weight, as on a GPU.

    To be made before vLLM's reload takes the layers' weights away.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        layers = _direct_layers(model) if current_platform.is_cpu() else ()
        self._by_name = {name: layer for layer in layers for name in layer.names}

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def load(self, tensors: Iterable[tuple[str, torch.Tensor]]) -> Iterator[tuple[str, torch.Tensor]]:
        """Take what belongs to these layers; hand on the rest. No view of what was taken is left in the end. Several
        threads may do it at once, each with other tensors."""
        come: dict[_Layer, dict[str, torch.Tensor]] = {}
        for name, tensor in tensors:
            if (layer := self._by_name.get(name)) is None:
                yield name, tensor
            else:
                come.setdefault(layer, {})[name] = tensor
        for layer, parts in come.items():
            layer.load(parts)


def _direct_layers(model: torch.nn.Module) -> Iterator[_Layer]:
    fused = getattr(model, "packed_modules_mapping", {})
    tied = tied_heads(model)
    heads = any(isinstance(module, ParallelLMHead) for module in model.modules())
    for path, module in model.named_modules():
        if _is_linear(module):
            yield _Layer(partial(_pack, module), _names(path, fused))
        elif _is_embedding(module) and not any(module is head for head in tied):
            # Where there is no head of its own, the embedding may be what is multiplied by.
            multiplied = isinstance(module, ParallelLMHead) or not heads
            yield _Layer(partial(_write, module, multiplied), (f"{path}.weight",))


def _is_linear(module: torch.nn.Module) -> bool:
    return (
        isinstance(module, LinearBase)
        and type(module.quant_method) is UnquantizedLinearMethod
        and _is_whole(module)
        and module.weight.numel() == 0
    )


def _is_embedding(module: torch.nn.Module) -> bool:
    return (
        isinstance(module, VocabParallelEmbedding)
        and type(module.quant_method) is UnquantizedEmbeddingMethod
        and _is_whole(module)
    )


def _is_whole(module: torch.nn.Module) -> bool:
    return module.tp_size == 1 and [name for name, _ in module.named_parameters(recurse=False)] == ["weight"]


def _names(path: str, fused: dict[str, list[str]]) -> tuple[str, ...]:
    above, _, last = path.rpartition(".")
    return tuple(f"{above}.{part}.weight" for part in fused.get(last, [last]))


def _pack(layer: LinearBase, parts: Parts) -> None:
    """What the layer's own processing does after a load, with the weight as it was received."""
    kernel = get_layerwise_info(layer).kernel_tensors[0]["weight"]
    weight = _whole(parts).to(layer.params_dtype)
    if weight.shape != (layer.output_size, layer.input_size):
        raise ValueError(f"{layer.prefix}: {list(weight.shape)} came for [{layer.output_size}, {layer.input_size}]")
    layer.weight = torch.nn.Parameter(weight, requires_grad=False)
    layer.quant_method.process_weights_after_loading(layer)
    layer.weight = kernel
    get_layerwise_info(layer).reset()


def _write(layer: VocabParallelEmbedding, multiplied: bool, parts: Parts) -> None:
    """The layer's rows, and zeros where the vocabulary is filled up. Without `multiplied` there is no packed copy."""
    kernel = get_layerwise_info(layer).kernel_tensors[0]["weight"]
    (rows,) = parts
    if rows.shape != (layer.org_vocab_size, layer.embedding_dim):
        expected = [layer.org_vocab_size, layer.embedding_dim]
        raise ValueError(f"{type(layer).__name__}: {list(rows.shape)} came for {expected}")
    kernel.data[: len(rows)].copy_(rows)
    kernel.data[len(rows) :].zero_()
    layer.weight = kernel
    # An old packed copy would be multiplied by in silence.
    layer.cpu_linear = None
    if multiplied:
        layer.quant_method.process_weights_after_loading(layer)
    get_layerwise_info(layer).reset()


def _whole(parts: Parts) -> torch.Tensor:
    """The parts one below the other: the same memory where they lie so already, a copy where they do not."""
    first, rows = parts[0], sum(part.shape[0] for part in parts)
    ends = [part.data_ptr() + part.nbytes for part in parts]
    if all(part.data_ptr() == end and part.dtype == first.dtype for part, end in zip(parts[1:], ends)):
        return first.as_strided((rows, *first.shape[1:]), first.stride())
    return torch.cat(list(parts))
