"""The parameters of a built model, each with its row of the table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from megatron.core import parallel_state
from megatron.core.transformer.transformer_layer import get_transformer_layer_offset
from megatron.core.utils import unwrap_model

from vime.backends.megatron_utils.weights.errors import WeightsError
from vime.backends.megatron_utils.weights.tables import DENSE, Row, find_row


@dataclass(frozen=True)
class Entry:
    """One parameter of this rank, and the Hugging Face tensors that it is made of."""

    name: str
    parameter: torch.nn.Parameter
    row: Row
    hf: tuple[str, ...]


@dataclass(frozen=True)
class Share:
    """This rank's share of a layer."""

    rank: int
    size: int
    groups: int
    """Its key-value heads."""
    queries_per_group: int


def refuse_pipeline() -> None:
    """Weights are read and written where every rank has every layer."""
    if parallel_state.get_pipeline_model_parallel_world_size() > 1:
        what = "weights of a model that is divided over pipeline ranks cannot be exported or saved"
        raise WeightsError("--pipeline-model-parallel-size", what, "set it to 1")


def share_of(model: Sequence[torch.nn.Module]) -> Share:
    """This rank's share of each layer of `model`."""
    config = unwrap_model(model[0]).config
    size = parallel_state.get_tensor_model_parallel_world_size()
    if config.num_query_groups % size:
        raise WeightsError(
            "--tensor-model-parallel-size", f"{config.num_query_groups} key-value heads over {size} ranks", "take fewer"
        )
    return Share(
        rank=parallel_state.get_tensor_model_parallel_rank(),
        size=size,
        groups=config.num_query_groups // size,
        queries_per_group=config.num_attention_heads // config.num_query_groups,
    )


def entries(model: Sequence[torch.nn.Module], table: Sequence[Row] = DENSE) -> Iterator[Entry]:
    """Each parameter of this rank in the model's order; WeightsError for one that the table does not know."""
    for chunk in model:
        whole = unwrap_model(chunk)
        offset = get_transformer_layer_offset(whole.config)
        for name, parameter in whole.named_parameters():
            if (found := find_row(name, table)) is None:
                raise WeightsError(name, "this parameter is in no row of the table", "add one to weights/tables.py")
            row, layer = found
            hf = row.hf
            if row.megatron == ("output_layer.weight",) and whole.share_embeddings_and_output_weights:
                hf = ("model.embed_tokens.weight",)
            number = int(layer) + offset if layer else ""
            yield Entry(name, parameter, row, tuple(one.format(number) for one in hf))
