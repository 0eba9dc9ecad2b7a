"""Columns for the trainer: alignment, logprobs, and normalisation by prompt."""

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import options

from vime.rollout.rewarding import RewardInvalid
from vime.rollout.sample_checks import SampleInvalid
from vime.rollout.train_data import convert_samples_to_train_data
from vime.utils.types import Sample


def sample(group=0, reward=1.0, length=3, index=0, **more):
    made = Sample(group_index=group, index=index, reward=reward, tokens=[7], status=Sample.Status.COMPLETED)
    log_probs = [-0.5 - 0.1 * i for i in range(length)]
    made.append_response_tokens(tokens=list(range(length)), log_probs=log_probs, text="x" * length)
    vars(made).update(more)
    return made


def convert(samples, **more):
    return convert_samples_to_train_data(options(**more), samples)


def test_the_columns():
    truncated = sample(1, 0.0, 2, index=1, status=Sample.Status.TRUNCATED, weight_versions=["1", "2"])
    batch = convert([[sample(0, 1.0, 3)], [truncated]])
    assert batch["tokens"] == [[7, 0, 1, 2], [7, 0, 1]]
    assert batch["response_lengths"] == [3, 2] and batch["loss_masks"] == [[1, 1, 1], [1, 1]]
    assert batch["rollout_log_probs"] == [[-0.5, -0.6, -0.7], [-0.5, -0.6]]
    assert batch["truncated"] == [0, 1] and batch["sample_indices"] == [0, 1] and batch["raw_reward"] == [1.0, 0.0]
    assert batch["weight_versions"] == [[], ["1", "2"]]
    assert batch["rollout_mask_sums"] == [3, 2] and batch["rollout_ids"] == [0, 1]
    assert "teacher_log_probs" not in batch and "metadata" not in batch


@settings(max_examples=60)
@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=5), min_size=1, max_size=5), st.booleans())
def test_rewards_are_normalised_by_prompt_whatever_the_sizes(groups, by_deviation):
    samples = [sample(number, reward) for number, rewards in enumerate(groups) for reward in rewards]
    got = iter(convert(samples, grpo_std_normalization=by_deviation)["rewards"])
    for rewards in groups:
        own = [next(got) for _ in rewards]
        scale = (statistics.stdev(rewards) if len(rewards) > 1 else 0.0) + 1e-6 if by_deviation else 1.0
        wanted = [(reward - statistics.fmean(rewards)) / scale for reward in rewards]
        assert own == pytest.approx(wanted, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize(
    ("options_", "wanted"),
    [
        ({"rewards_normalization": False}, [3.0, 1.0]),
        ({"advantage_estimator": "ppo"}, [3.0, 1.0]),
        ({"advantage_estimator": "reinforce_plus_plus_baseline"}, [1.0, -1.0]),
    ],
)
def test_estimators_that_normalise_otherwise(options_, wanted):
    assert convert([sample(0, 3.0), sample(0, 1.0)], **options_)["rewards"] == wanted


def test_a_fan_out_counts_as_one_rollout():
    """Five samples of one rollout and one of another have the same weight in the mean, and one denominator."""
    fanned = [sample(0, 1.0, 2, index=0) for _ in range(5)]
    batch = convert([[fanned, sample(0, 0.0, 4, index=1)]], grpo_std_normalization=False)
    assert batch["rewards"] == [0.5] * 5 + [-0.5]
    assert batch["rollout_ids"] == [0] * 5 + [1]
    assert batch["rollout_mask_sums"] == [10] * 5 + [4]


def test_ids_that_are_given_are_kept_and_free_ones_are_not_theirs():
    samples = [sample(0, rollout_id=None), sample(0, rollout_id=0), sample(0, rollout_id=None)]
    ids = convert(samples)["rollout_ids"]
    assert ids[1] == 0 and len(set(ids)) == 3


def test_a_sample_whose_reward_failed_does_not_count():
    failed = sample(0, 0.0, remove_sample=True, metadata={"reward_failed": "judge"})
    batch = convert([sample(0, 3.0), sample(0, 1.0), failed], grpo_std_normalization=False)
    assert batch["rewards"] == [1.0, -1.0, 0.0] and batch["loss_masks"][2] == [0, 0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss_mask": [1]}, "loss_mask has 1 entries"),
        ({"loss_mask": [1, 2, 1]}, "other entries than 0 and 1"),
        ({"rollout_log_probs": [-1.0]}, "rollout_log_probs has 1 entries"),
        ({"rollout_log_probs": None}, "no rollout_log_probs"),
        ({"rollout_log_probs": [-1.0, math.nan, -1.0]}, "rollout_log_probs is nan at response position 1"),
        ({"rollout_log_probs": [-1.0, -math.inf, -1.0]}, "is -inf at response position 1"),
        ({"rollout_log_probs": [-1.0, None, -1.0]}, "is None at response position 1"),
        ({"rollout_log_probs": [-1.0, 0.5, -1.0]}, r"is 0.5 at response position 1"),
        ({"rollout_log_probs": [-1.0, -9999.0, -1.0]}, "-9999.0 at response position 1; .*the engine's word for none"),
        ({"tokens": [1]}, "longer than all tokens"),
        ({"group_index": None}, "it belongs to no prompt"),
    ],
)
def test_what_must_not_be_trained_on_is_named(change, message):
    wrong = sample(4, 1.0, index=12, weight_versions=["1", "2"])
    vars(wrong).update(change)
    with pytest.raises(SampleInvalid, match=message) as raised:
        convert([sample(0, 0.0), wrong])
    assert raised.value.sample_index == 12
    assert "3 response tokens" in str(raised.value) and "2 turn(s)" in str(raised.value)


def certain(*response, mask=None, index=0):
    made = sample(3, 1.0, length=0, index=index)
    made.append_response_tokens(tokens=list(response), log_probs=[0.0] * len(response), text="x")
    made.loss_mask = mask or [1] * len(response)
    return made


def test_logprobs_filled_with_0_contradict_themselves():
    with pytest.raises(SampleInvalid, match=r"all 0 \(probability 1\), .* that differs; they were filled in") as raised:
        convert([certain(5, 6, index=1), certain(5, 6, index=2), certain(5, 7, index=3)])
    assert raised.value.sample_index == 3


@pytest.mark.parametrize(
    "others",
    [
        [certain(5, 6)],
        [sample(3, 0.0)],
        [certain(5, 7, mask=[1, 0])],
        [certain(5, 6, 7)],
    ],
    ids=["the same", "an uncertain one", "a difference that no policy made", "a longer one"],
)
def test_a_policy_that_is_certain_of_its_one_answer_is_no_error(others):
    """Probabilities above 1 - 6e-8 have the logprob 0 in float32."""
    convert([certain(5, 6), *others])


@pytest.mark.parametrize("reward", [None, math.nan, "1"])
def test_rewards_are_checked_here_too(reward):
    with pytest.raises(RewardInvalid, match="sample 5"):
        convert([sample(0, reward, index=5)])


def test_logprobs_matter_where_tokens_are_trained_on():
    tool = sample(0, 1.0)
    tool.append_response_tokens(tokens=[1, 2], trainable=False, text="ok")
    removed = sample(0, 0.0, remove_sample=True, rollout_log_probs=None)
    assert convert([tool, removed])["rollout_log_probs"] == [[-0.5, -0.6, -0.7, 0.0, 0.0], [0.0, 0.0, 0.0]]
    supervised = sample(0, 0, rollout_log_probs=None)
    assert "rollout_log_probs" not in convert([supervised], loss_type="sft_loss")


def test_top_p_sets_are_needed_where_there_is_a_nucleus():
    with pytest.raises(SampleInvalid, match="no top-p token ids"):
        convert([sample()], rollout_top_p=0.9)
    kept = sample(rollout_top_p_token_ids=[1, 2, 3], rollout_top_p_token_offsets=[0, 1, 2, 3])
    assert convert([kept], rollout_top_p=0.9)["rollout_top_p_token_ids"] == [[1, 2, 3]]
    kept.rollout_top_p_token_offsets = [0, 1, 3]
    with pytest.raises(SampleInvalid, match="3 top-p offsets up to 3 for 3 ids"):
        convert([kept], rollout_top_p=0.9)


def test_an_optional_column_is_there_for_all_or_none():
    taught = sample(teacher_log_probs=[-1.0] * 3)
    assert convert([taught])["teacher_log_probs"] == [[-1.0] * 3]
    with pytest.raises(SampleInvalid, match="no teacher_log_probs, which other samples have"):
        convert([taught, sample(index=9)])


def halved(args, samples):
    return [1.0] * len(samples), [sample.reward / 2 for sample in samples]


def too_few(args, samples):
    return [], []


def columns(args, samples):
    return {"mine": [sample.index for sample in samples]}


def test_functions_of_the_users():
    samples = [[sample(0, 1.0, index=3)], [sample(1, 3.0, index=4)]]
    batch = convert(samples, custom_reward_post_process_path=f"{__name__}.halved")
    assert (batch["raw_reward"], batch["rewards"]) == ([1.0, 1.0], [0.5, 1.5])
    with pytest.raises(ValueError, match="0 raw and 0 normalised rewards for 2 samples"):
        convert(samples, custom_reward_post_process_path=f"{__name__}.too_few")
    assert convert(samples, custom_convert_samples_to_train_data_path=f"{__name__}.columns") == {"mine": [3, 4]}
