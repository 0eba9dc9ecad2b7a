"""The repair that a tied head needs on a CPU after its model's weights changed in place. Runs in vLLM's workers.

vLLM's CPU layers multiply by a packed copy of their weight. A head that shares the embedding's weight owns no parameter,
so a reload packs the embedding's anew and leaves the head's copy old (measured: logprobs off by 4).
"""

import torch
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding


def repair_tied_head(model: torch.nn.Module) -> int:
    """Pack anew what each head shares with an embedding; returns how many heads there were. Harmless where none is tied."""
    heads = tied_heads(model)
    for head in heads:
        head.quant_method.process_weights_after_loading(head)
    return len(heads)


def tied_heads(model: torch.nn.Module) -> list[torch.nn.Module]:
    """The heads whose weight is an embedding's."""
    vocab = [module for module in model.modules() if isinstance(module, VocabParallelEmbedding)]
    embeddings = {module.weight.data_ptr() for module in vocab if not isinstance(module, ParallelLMHead)}
    return [m for m in vocab if isinstance(m, ParallelLMHead) and m.weight.data_ptr() in embeddings]
