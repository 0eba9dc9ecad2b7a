"""Packs, micro-batches one after the other, and reductions over samples."""

import itertools

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from hypothesis import given, settings
from hypothesis import strategies as st

from vime.backends.megatron_utils.cp_utils import (
    get_logits_and_tokens_offset_with_cp,
    get_sum_of_sample_mean,
)
from vime.backends.megatron_utils.data import DataIterator, to_tensors
from vime.backends.megatron_utils.packing import pack

samples = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=6
)  # (prompt, response) lengths


@given(samples, st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_each_response_token_is_predicted_by_the_row_before_it(given: list[tuple[int, int]], multiple: int) -> None:
    tokens, start = [], 1
    for prompt, response in given:
        tokens.append(torch.arange(start, start + prompt + response))
        start += prompt + response
    packed = pack(tokens, [response for _, response in given], pad_multiple=multiple)
    assert packed.tokens.shape[1] % multiple == 0 and packed.padding < multiple
    every = packed.tokens[0].tolist()
    assert every == [*range(1, start), *[0] * packed.padding]
    expected = [int(value) for one, (_, response) in zip(tokens, given) for value in one[len(one) - response :]]
    assert packed.targets.tolist() == expected
    assert [every[row] + 1 for row in packed.rows.tolist()] == expected
    bounds = packed.cu_seqlens.tolist()
    assert bounds[0] == 0 and bounds[-1] == len(every) and packed.cu_seqlens.dtype == torch.int32
    assert packed.max_seqlen == max(b - a for a, b in itertools.pairwise(bounds))
    for a, b in itertools.pairwise(bounds):
        assert packed.position_ids[0, a:b].tolist() == list(range(b - a))


def test_an_iterator_hands_out_what_was_scheduled() -> None:
    share = to_tensors(
        {
            "tokens": [[1, 2, 3], [4, 5], [6, 7, 8, 9]],
            "total_lengths": [3, 2, 4],
            "response_lengths": [1, 1, 2],
            "loss_masks": [[1], [0], [1, 1]],
            "rewards": [0.1, 0.2, 0.3],
        },
        "cpu",
    )
    iterator = DataIterator(share, [[2, 0], [1]])
    packed, batch = iterator.next_packed(("rewards", "advantages"), 1)
    assert packed.tokens.tolist() == [[6, 7, 8, 9, 1, 2, 3]] and packed.sample_indices == (2, 0)
    assert batch["rewards"] == [0.3, 0.1] and "advantages" not in batch
    assert iterator.get_next(["rewards", "advantages"]) == {"rewards": [0.2], "advantages": None}
    assert iterator.reset().get_next(["rewards"]) == {"rewards": [0.3, 0.1]}


def test_means_divide_by_the_rollout_and_masked_values_do_not_count() -> None:
    values = torch.tensor([1.0, float("nan"), 3.0, 5.0])
    masks = [torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0])]
    assert get_sum_of_sample_mean([5, 5], [2, 2], masks)(values).item() == 1 + 4
    assert get_sum_of_sample_mean([5, 5], [2, 2], masks, [3, 3])(values).item() == pytest.approx(9 / 3)
    assert get_sum_of_sample_mean([5, 5], [2, 2], masks, None, True)(values).item() == 9
    empty = get_sum_of_sample_mean([5], [2], [torch.zeros(2)])
    assert empty(torch.tensor([float("inf"), 1.0])).item() == 0


def test_a_reduction_gives_no_gradient_to_masked_values() -> None:
    values = torch.tensor([1.0, 2.0], requires_grad=True)
    get_sum_of_sample_mean([3], [2], [torch.tensor([0.0, 1.0])])(values.log()).backward()
    assert values.grad.tolist() == [0.0, 0.5]


def test_offsets_of_a_whole_sequence_are_its_response() -> None:
    size, _, logits, tokens = get_logits_and_tokens_offset_with_cp(10, 4)
    assert size == 5
    assert [i for start, end in logits for i in range(start, end)] == [5, 6, 7, 8]
    assert [i for start, end in tokens for i in range(start, end)] == [6, 7, 8, 9]
