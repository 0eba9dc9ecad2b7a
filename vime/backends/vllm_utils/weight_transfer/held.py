"""What a model inside vLLM computes with, weight by weight under Hugging Face names. Runs in vLLM's workers.

vLLM's CPU layers throw their weight away once they packed it. What they multiply by shows exactly all the same: a layer
applied to a row of zeros with a single one gives a column of its weight, to the bit.
"""

from collections.abc import Iterator

import torch
from vllm.model_executor.layers.linear import LinearBase, UnquantizedLinearMethod
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding

from vime.backends.vllm_utils.weight_transfer.digests import columns_of, digest_of


def held_digests(model: torch.nn.Module) -> dict[str, str]:
    """The digest of each weight of a dense model on one worker. A head that shares an embedding's weight is named
    `<embedding>.weight@<head>`. Raises NotImplementedError for quantized or split layers.
    """
    fused = getattr(model, "packed_modules_mapping", {})
    embeddings = {
        module.weight.data_ptr(): f"{path}.weight"
        for path, module in model.named_modules()
        if isinstance(module, VocabParallelEmbedding) and not isinstance(module, ParallelLMHead)
    }
    found = (_digests(path, module, fused, embeddings) for path, module in model.named_modules())
    return {name: digest for pairs in found for name, digest in pairs}


def _digests(
    path: str, module: torch.nn.Module, fused: dict[str, list[str]], embeddings: dict[int, str]
) -> Iterator[tuple[str, str]]:
    if isinstance(module, LinearBase):
        yield from _linear(path, module, fused)
    elif isinstance(module, ParallelLMHead):
        shared = embeddings.get(module.weight.data_ptr())
        name = shared or f"{path}.weight"
        held = digest_of(_columns(module, name, module.embedding_dim)[: module.org_vocab_size])
        yield f"{name}@{path}" if shared else name, held
    elif isinstance(module, VocabParallelEmbedding):
        name = f"{path}.weight"
        yield name, digest_of(module.weight[: module.org_vocab_size, columns_of(name, module.embedding_dim)])
    else:
        yield from ((f"{path}.{name}", digest_of(value)) for name, value in module.named_parameters(recurse=False))


def _linear(path: str, layer: LinearBase, fused: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    if layer.tp_size > 1 or not isinstance(layer.quant_method, UnquantizedLinearMethod):
        raise NotImplementedError(f"{path}: weights are compared on engines of one worker, unquantized")
    above, _, last = path.rpartition(".")
    parts = fused.get(last, [last])
    sizes = layer.output_sizes if len(parts) > 1 else [layer.output_size]
    begin = 0
    for part, size in zip(parts, sizes, strict=True):
        name = f"{above}.{part}.weight"
        yield name, digest_of(_columns(layer, name, layer.input_size)[begin : begin + size])
        if layer.bias is not None:
            yield f"{above}.{part}.bias", digest_of(layer.bias[begin : begin + size].to(layer.params_dtype))
        begin += size


def _columns(layer: torch.nn.Module, name: str, width: int) -> torch.Tensor:
    """The columns of a weight that are looked at, as the layer itself multiplies: [outputs, columns]."""
    columns = columns_of(name, width)
    dtype = next(layer.parameters()).dtype
    ones = torch.zeros(len(columns), width, dtype=dtype, device=next(layer.parameters()).device)
    ones[range(len(columns)), columns] = 1.0
    return layer.quant_method.apply(layer, ones, None).T
