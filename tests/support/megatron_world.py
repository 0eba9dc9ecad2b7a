"""What the tests of the trainer's model share: small models of each family, packs, and updates on them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from megatron.core.distributed import finalize_model_grads
from megatron.core.pipeline_parallel import get_forward_backward_func
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM

from vime.backends.megatron_utils.checkpoint import TrainState
from vime.backends.megatron_utils.forward import forward_logits
from vime.backends.megatron_utils.model_provider import build_model, data_parallel
from vime.backends.megatron_utils.optimizer import build_optimizer, build_scheduler
from vime.backends.megatron_utils.weights import load_hf
from vime.config.args import Args
from vime.config.packages import schema
from vime.config.resolve import resolve

VOCAB = 97
_SHAPE = {
    "vocab_size": VOCAB,
    "hidden_size": 128,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
FAMILIES = {
    "qwen3": {"model_type": "qwen3", "head_dim": 32},
    "qwen3-tied": {"model_type": "qwen3", "head_dim": 32, "tie_word_embeddings": True},
    "qwen2": {"model_type": "qwen2"},
    "qwen2-tied": {"model_type": "qwen2", "tie_word_embeddings": True},
    "llama": {"model_type": "llama"},
    "llama-one-group-a-head": {"model_type": "llama", "num_key_value_heads": 4},
    "llama3-stretched": {"model_type": "llama", "rope_parameters": _LLAMA3},
    "llama-linear": {
        "model_type": "llama",
        "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0},
    },
}


def hf_model(family: str, folder: Path, **changes: object) -> torch.nn.Module:
    """A model of transformers' with weights of which none is special, float32, saved in `folder`."""
    config = AutoConfig.for_model(**{**_SHAPE, **FAMILIES[family], **changes})
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            one = "norm" in name
            parameter.copy_(torch.randn_like(parameter) * (0.3 if one or "bias" in name else 0.06) + one)
    model.save_pretrained(folder)
    return model


def made_args(folder: Path, *words: str) -> Args:
    """The arguments of a short run with the model in `folder`."""
    enough = ["--rollout-batch-size", "4", "--num-rollout", "10", "--prompt-data", "x", "--device", "cpu"]
    rest = ["--rollout-max-response-len", "8", "--lr", "1e-2", "--lr-decay-style", "cosine"]
    layout = [] if "--actor-num-gpus-per-node" in words else ["--actor-num-gpus-per-node", "1"]
    return resolve(["--hf-checkpoint", str(folder), *enough, *rest, *layout, *words], [], schema()).args


@dataclass(frozen=True)
class Pack:
    """Packed sequences, as forward_logits takes them."""

    tokens: Tensor
    position_ids: Tensor
    cu_seqlens: Tensor
    max_seqlen: int

    def sequences(self) -> list[Tensor]:
        """Each sequence's tokens, int64 [1, length]."""
        return [self.tokens[:, start:end] for start, end in itertools.pairwise(self.cu_seqlens.tolist())]


def made_pack(lengths: Sequence[int], seed: int = 0) -> Pack:
    """Sequences of random tokens."""
    generator = torch.Generator().manual_seed(seed)
    return Pack(
        torch.randint(0, VOCAB, (1, sum(lengths)), generator=generator),
        torch.cat([torch.arange(length) for length in lengths])[None],
        torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32),
        max(lengths),
    )


def logits(model: torch.nn.Module, pack: Pack) -> Tensor:
    """forward_logits on a pack."""
    return forward_logits(model, pack.tokens, pack.position_ids, pack.cu_seqlens, pack.max_seqlen)


def made_state(args: Args, folder: Path) -> TrainState:
    """A model with the weights in `folder`, ready to be trained."""
    model = build_model(args)
    load_hf(model, folder)
    wrapped = data_parallel(args, model)
    wrapped[0].config.finalize_model_grads_func = finalize_model_grads
    optimizer = build_optimizer(args, wrapped)
    return TrainState(wrapped, optimizer, build_scheduler(args, optimizer))


def gradients(state: TrainState, packs: Sequence[Pack]) -> Tensor:
    """The gradients of the packs' mean loss, in the state's buffers; and that loss (of this rank)."""
    for chunk in state.model:
        chunk.zero_grad_buffer()
    state.optimizer.zero_grad()

    def forward(batches: object, model: torch.nn.Module) -> tuple[Tensor, object]:
        pack = next(batches)  # type: ignore[call-overload]

        def loss(out: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
            value = whole_vocabulary_loss(out, pack.tokens[0])
            return value, {"loss": value.detach().clone()}

        return logits(model, pack), loss

    told = get_forward_backward_func()(
        forward_step_func=forward,
        data_iterator=iter(packs),
        model=list(state.model),
        num_microbatches=len(packs),
        seq_length=1,
        micro_batch_size=1,
        forward_only=False,
    )
    return torch.stack([one["loss"] for one in told]).mean()


def whole_vocabulary_loss(out: Tensor, targets: Tensor) -> Tensor:
    """Mean cross entropy of logits [T, V / ranks], also where the vocabulary is divided."""
    from megatron.core.tensor_parallel import vocab_parallel_cross_entropy

    return vocab_parallel_cross_entropy(out.float().unsqueeze(1), targets.unsqueeze(1)).mean()


def updated(state: TrainState, packs: Sequence[Pack]) -> tuple[float, float]:
    """One update: (loss before, norm of the gradient)."""
    loss = gradients(state, packs)
    made, norm, _ = state.optimizer.step()
    assert made
    state.scheduler.step(increment=4)
    return loss.item(), norm
