"""Attention over packs: within a sequence only, causal, and of a cost that grows with the sequences' number."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from hypothesis import given, settings
from hypothesis import strategies as st
from megatron.core.transformer import TransformerConfig

from vime.backends.megatron_utils.core_attention import PackedAttention, buckets, packing

LENGTHS = st.lists(st.integers(0, 70), min_size=1, max_size=12)


def starts(lengths: list[int]) -> torch.Tensor:
    return torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32)


@settings(max_examples=60, deadline=None)
@given(LENGTHS)
def test_each_token_is_in_one_group_and_padding_less_than_doubles(lengths: list[int]) -> None:
    groups = buckets(starts(lengths))
    everywhere = torch.cat([rows.flatten() for rows in groups.rows]) if groups.rows else torch.zeros(0).long()
    assert torch.equal(everywhere[groups.back], torch.arange(sum(lengths)))
    assert len(everywhere) <= 2 * sum(lengths)
    sequence = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    for rows in groups.rows:
        assert (sequence[rows] == sequence[rows[:, :1]]).all()
        assert ((rows.diff(dim=1) == 1) | (rows.diff(dim=1) == 0)).all()


def attention() -> PackedAttention:
    config = TransformerConfig(num_layers=1, hidden_size=24, num_attention_heads=4, attention_dropout=0.0)
    return PackedAttention(config, layer_number=1)


def reference(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, cu_seqlens: torch.Tensor) -> torch.Tensor:
    """By the definition, with one matrix for the whole pack."""
    total, heads, size = query.shape
    sequence = torch.searchsorted(cu_seqlens.long(), torch.arange(total), right=True)
    seen = (sequence[:, None] == sequence[None]) & torch.ones(total, total, dtype=torch.bool).tril()
    key, value = (states.repeat_interleave(heads // states.shape[1], dim=1) for states in (key, value))
    scores = torch.einsum("qhd,khd->hqk", query, key) / size**0.5
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return torch.einsum("hqk,khd->qhd", weights, value).flatten(1)


@settings(max_examples=30, deadline=None)
@given(LENGTHS.filter(any), st.sampled_from([1, 2, 4]), st.integers(0, 1000))
def test_values_and_gradients_are_those_of_the_definition(lengths: list[int], groups: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    total = sum(lengths)
    states = [torch.randn(total, heads, 6, generator=generator, requires_grad=True) for heads in (4, groups, groups)]
    seqlens = starts(lengths)
    pull = torch.randn(total, 24, generator=generator)
    mine = attention()(*states, packed_seq_params=packing(seqlens, max(lengths)))
    theirs = reference(*states, seqlens)
    assert (mine - theirs).abs().max() < 1e-5
    mine_grads = torch.autograd.grad((mine * pull).sum(), states)
    theirs_grads = torch.autograd.grad((theirs * pull).sum(), states)
    assert max((a - b).abs().max() for a, b in zip(mine_grads, theirs_grads)) < 1e-4


def test_no_matrix_of_the_whole_pack_is_made() -> None:
    """40 sequences of 50 tokens: the work and the memory of 40 small matrices."""
    assert [tuple(rows.shape) for rows in buckets(starts([50] * 40)).rows] == [(40, 50)]


def test_unpacked_states_are_refused() -> None:
    with pytest.raises(ValueError, match="packed sequences"):
        attention()(*(torch.zeros(3, 1, 4, 6) for _ in range(3)))
