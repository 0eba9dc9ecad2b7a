"""Linear layers on a CPU take their weight straight from where it was received. Runs in vLLM's workers.

vLLM's reload copies a received weight into a new one, and only then packs it for multiplication. Here it is packed from
the bucket itself: a third less work, which is what a sync of a large model waits for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from vllm.model_executor.layers.linear import LinearBase, UnquantizedLinearMethod
from vllm.model_executor.model_loader.reload.layerwise import get_layerwise_info
from vllm.platforms import current_platform


@dataclass
class _Layer:
    """A layer that packs its weight, the names of the parts of which it is made, and those that came."""

    layer: LinearBase
    names: tuple[str, ...]
    parts: dict[str, torch.Tensor] = field(default_factory=dict)


class DirectLayers:
    """The layers of a model that can be loaded so; empty where there are no packed layers, as on a GPU."""

    def __init__(self, model: torch.nn.Module) -> None:
        fused = getattr(model, "packed_modules_mapping", {})
        layers = [_Layer(module, _names(path, fused)) for path, module in model.named_modules() if _is_direct(module)]
        self._by_name = {name: layer for layer in layers for name in layer.names}

    def load(self, tensors: Iterable[tuple[str, torch.Tensor]]) -> Iterator[tuple[str, torch.Tensor]]:
        """Take what belongs to these layers; hand on the rest."""
        for name, tensor in tensors:
            found = self._by_name.get(name)
            if found is None:
                yield name, tensor
                continue
            found.parts[name] = tensor
            if len(found.parts) == len(found.names):
                _pack(found.layer, [found.parts[part] for part in found.names])
                found.parts.clear()


def _is_direct(module: torch.nn.Module) -> bool:
    return (
        current_platform.is_cpu()
        and isinstance(module, LinearBase)
        and type(module.quant_method) is UnquantizedLinearMethod
        and module.tp_size == 1
        and [name for name, _ in module.named_parameters(recurse=False)] == ["weight"]
        and module.weight.numel() == 0
    )


def _names(path: str, fused: dict[str, list[str]]) -> tuple[str, ...]:
    above, _, last = path.rpartition(".")
    return tuple(f"{above}.{part}.weight" for part in fused.get(last, [last]))


def _pack(layer: LinearBase, parts: Sequence[torch.Tensor]) -> None:
    """What the layer's own processing does after a load, with the weight as it was received."""
    kernel = get_layerwise_info(layer).kernel_tensors[0]["weight"]
    weight = _whole(parts).to(layer.params_dtype)
    if weight.shape != (layer.output_size, layer.input_size):
        raise ValueError(f"{layer.prefix}: {list(weight.shape)} came for [{layer.output_size}, {layer.input_size}]")
    layer.weight = torch.nn.Parameter(weight, requires_grad=False)
    layer.quant_method.process_weights_after_loading(layer)
    layer.weight = kernel
    get_layerwise_info(layer).reset()


def _whole(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """The parts one below the other: the same memory where they lie so already, a copy where they do not."""
    first, rows = parts[0], sum(part.shape[0] for part in parts)
    ends = [part.data_ptr() + part.nbytes for part in parts]
    if all(part.data_ptr() == end and part.dtype == first.dtype for part, end in zip(parts[1:], ends)):
        return first.as_strided((rows, *first.shape[1:]), first.stride())
    return torch.cat(list(parts))
