"""Losses, returns and KL a token, against their formulas written as loops."""

import math

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings
from hypothesis import strategies as st

from vime.learning.corrections import icepop_function, vanilla_tis_function
from vime.learning.policy import sequence_mean
from vime.learning.returns import distributed_masked_whiten
from vime.utils.ppo_utils import (
    chunked_discounted_returns,
    chunked_gae,
    compute_approx_kl,
    compute_cispo_loss,
    compute_gspo_kl,
    compute_opsm_mask,
    compute_policy_loss,
    get_grpo_returns,
    get_reinforce_plus_plus_returns,
)

NAN = float("nan")
numbers = st.floats(-2, 2, width=32)


@given(
    kl=numbers, advantage=numbers, low=st.floats(0, 0.5), high=st.floats(0, 0.5), bound=st.none() | st.floats(1.1, 4)
)
@settings(max_examples=60)
def test_the_surrogate_is_clipped_on_both_sides_and_doubly_below(
    kl: float, advantage: float, low: float, high: float, bound: float | None
) -> None:
    loss, clipped = compute_policy_loss(
        torch.tensor([kl], dtype=torch.float64), torch.tensor([advantage], dtype=torch.float64), low, high, bound
    )
    ratio = math.exp(-kl)
    inside = min(max(ratio, 1 - low), 1 + high)
    expected = -min(ratio * advantage, inside * advantage)
    if bound is not None and advantage < 0:
        expected = min(expected, -bound * advantage)
    assert loss.item() == pytest.approx(expected, abs=1e-9)
    assert bool(clipped.item()) == (inside * advantage < ratio * advantage)


def test_a_dual_clip_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="above 1"):
        compute_policy_loss(torch.zeros(1), torch.ones(1), 0.2, 0.2, 1.0)


def test_cispo_keeps_the_gradient_of_clipped_tokens() -> None:
    log_probs = torch.tensor([-1.0, -1.0, -1.0], requires_grad=True)
    old = torch.tensor([-3.0, -1.0, 0.0])
    loss, clipped = compute_cispo_loss(old - log_probs, log_probs, torch.tensor([1.0, 2.0, -1.0]), 0.2, 0.3)
    loss.sum().backward()
    assert log_probs.grad.tolist() == pytest.approx([-1.3, -2.0, 0.8])
    assert clipped.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("kind", "value"),
    [("k1", 0.5), ("k2", 0.125), ("k3", math.exp(-0.5) - 1 + 0.5), ("low_var_kl", math.exp(-0.5) - 1 + 0.5)],
)
def test_kl_estimators(kind: str, value: float) -> None:
    found = compute_approx_kl(torch.tensor([-1.0]), torch.tensor([-1.5]), kind)
    assert found.item() == pytest.approx(value, abs=1e-6)
    ratio = torch.tensor([2.0])
    assert compute_approx_kl(torch.tensor([-1.0]), torch.tensor([-1.5]), kind, ratio).item() == pytest.approx(2 * value)


def test_only_the_last_estimator_is_held_within_bounds_and_another_is_refused() -> None:
    far = torch.tensor([-20.0]), torch.tensor([0.0])
    assert compute_approx_kl(*far, "low_var_kl").item() == 10
    assert compute_approx_kl(*far, "k3").item() > 1e8
    with pytest.raises(ValueError, match="k9"):
        compute_approx_kl(*far, "k9")


def test_the_bounded_estimator_has_no_gradient_beyond_its_bound_however_far() -> None:
    log_probs = torch.tensor([-200.0, -5.0, -1.0], requires_grad=True)
    compute_approx_kl(log_probs, torch.tensor([-0.5, -0.5, -1.5]), "low_var_kl").sum().backward()
    assert log_probs.grad.tolist() == pytest.approx([0.0, 0.0, 1 - math.exp(-0.5)])


def test_a_sequence_ratio_is_of_the_unmasked_tokens() -> None:
    new, old = (
        [torch.tensor([-1.0, NAN, -2.0]), torch.tensor([-1.0])],
        [torch.tensor([-0.5, 0.0, -1.0]), torch.zeros(1)],
    )
    masks = [torch.tensor([1, 0, 1]), torch.tensor([0])]
    assert compute_gspo_kl(new, old, new, masks).tolist() == pytest.approx([0.75, 0.75, 0.75, 0.0])


def test_sequences_far_from_the_policy_lose_their_negative_tokens() -> None:
    class Args:
        opsm_delta = 0.1

    new, old = (
        [torch.tensor([-1.0, -1.0]), torch.tensor([-1.0, -1.0])],
        [torch.tensor([-0.5, -0.5]), torch.full((2,), -1.0)],
    )
    advantages, masks = [torch.tensor([-1.0, 1.0]), torch.tensor([-1.0, -1.0])], [torch.ones(2), torch.ones(2)]
    kept, share = compute_opsm_mask(Args, new, old, advantages, masks)
    assert kept.tolist() == [0, 1, 1, 1]
    assert share.item() == 0.5


def test_importance_weights_are_truncated_or_dropped_and_masked_tokens_count_one() -> None:
    class Args:
        tis_clip, tis_clip_low = 2.0, 0.5

    given = {
        "pg_loss": torch.ones(4),
        "train_log_probs": [torch.log(torch.tensor([1.5, 8.0])), torch.tensor([math.log(0.1), NAN])],
        "rollout_log_probs": [torch.zeros(2), torch.zeros(2)],
        "loss_masks": [torch.ones(2), torch.tensor([1.0, 0.0])],
    }
    loss, _, figures = vanilla_tis_function(Args, **given)
    assert loss.tolist() == pytest.approx([1.5, 2.0, 0.5, 1.0])
    assert figures["tis_clipfrac"].tolist() == [0, 1, 1, 0]
    assert icepop_function(Args, **given)[0].tolist() == pytest.approx([1.5, 0.0, 0.0, 1.0])


@given(rewards=st.lists(st.lists(numbers, min_size=5, max_size=5), min_size=1, max_size=3), discount=st.floats(0, 1))
@settings(max_examples=60)
def test_discounted_returns_are_the_recurrence(rewards: list[list[float]], discount: float) -> None:
    found = chunked_discounted_returns(torch.tensor(rewards, dtype=torch.float64), discount)
    for row, mine in zip(rewards, found.tolist()):
        following = 0.0
        for value, its in reversed(list(zip(row, mine))):
            following = value + discount * following
            assert its == pytest.approx(following, abs=1e-9)


def test_generalised_advantages_are_the_recurrence() -> None:
    rewards, values = torch.randn(3, 7, dtype=torch.float64), torch.randn(3, 7, dtype=torch.float64)
    advantages, returns = chunked_gae(rewards, values, 0.9, 0.8)
    last = torch.zeros(3, dtype=torch.float64)
    for t in reversed(range(7)):
        after = values[:, t + 1] if t < 6 else 0.0
        last = rewards[:, t] + 0.9 * after - values[:, t] + 0.72 * last
        torch.testing.assert_close(advantages[:, t], last)
    torch.testing.assert_close(returns, advantages + values)


def test_the_outcome_reward_is_at_the_last_trained_token() -> None:
    kl = [torch.tensor([1.0, NAN, 3.0, 9.0]), torch.tensor([5.0])]
    masks = [torch.tensor([1, 0, 1, 0]), torch.tensor([0])]
    found = get_reinforce_plus_plus_returns([10.0, 7.0], kl, masks, [4, 1], [9, 9], kl_coef=0.1, gamma=0.5)
    last = 10 - 0.3
    assert found[0].tolist() == pytest.approx([-0.1 + 0.25 * last, 0.5 * last, last, 0.0])
    assert found[1].tolist() == [0.0], "a sample that is not trained on has no return"


def test_a_reward_is_at_each_token_less_its_kl() -> None:
    found = get_grpo_returns([2.0, -1.0], [torch.tensor([0.0, 1.0]), torch.zeros(1)], kl_coef=0.5)
    assert [one.tolist() for one in found] == [[2.0, 1.5], [-1.0]]


def test_whitening_sees_unmasked_tokens_only() -> None:
    values, mask = torch.tensor([1.0, NAN, 3.0, 5.0, 100.0]), torch.tensor([1, 0, 1, 1, 0])
    white = distributed_masked_whiten(values, mask)
    assert white[[1, 4]].tolist() == [0, 0]
    kept = white[mask > 0]
    assert kept.mean().item() == pytest.approx(0, abs=1e-6) and kept.std().item() == pytest.approx(1, abs=1e-5)
    assert distributed_masked_whiten(values, mask, shift_mean=False)[mask > 0].mean().item() == pytest.approx(
        3, abs=1e-5
    )
    assert distributed_masked_whiten(values, mask * 0).tolist() == [0] * 5


def test_the_mean_of_a_sequence_without_trained_tokens_is_0() -> None:
    assert sequence_mean(torch.tensor([1.0, NAN, 4.0]), torch.tensor([1, 0, 0]), [2, 1]).tolist() == [1.0, 0.0]
