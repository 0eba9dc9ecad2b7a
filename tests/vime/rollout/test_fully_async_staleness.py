"""How old groups may be: how many are begun, and which are waited for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import options

from vime.config.args import Args
from vime.ray.run_length import with_length
from vime.rollout.fully_async.staleness import Bound, oldest_version, version_number
from vime.train.loop import Schedule
from vime.utils.types import Sample

SLACKS = st.lists(st.integers(0, 3), max_size=12)


def every(updates, batch):
    """The bound where there is an update after each rollout."""
    return Bound(updates, batch, tuple(range(updates + 1)))


def of(*versions):
    return Sample(weight_versions=list(versions))


@pytest.mark.parametrize(
    ("label", "number"),
    [("12", 12), (3, 3), ("default", 0), ("incomplete:5", None), (None, None), ("-1", None), ("²", None)],
)
def test_a_label_that_is_no_number_says_nothing(label, number):
    assert version_number(label) == number


def test_a_group_is_as_old_as_its_oldest_token():
    assert oldest_version([of("7", "8"), [of("6"), of("9")]]) == 6
    assert oldest_version([of(), of("incomplete:9")]) is None


def bound_of(per_epoch=None, **more):
    """As the rollout manager's process has it, which knows the run's length when the prompts are read."""
    return Bound.of(with_length(Args(**vars(options(**more))), per_epoch))


def test_the_bound_is_of_the_options():
    args = {"fully_async_max_staleness": 3, "update_weights_interval": 2, "rollout_batch_size": 5}
    assert bound_of(**args) == Bound(updates=3, batch=5, rollouts=(0, 2, 4, 6))
    assert bound_of() == Bound(updates=1, batch=4, rollouts=(0, 1))


@pytest.mark.parametrize(
    ("interval", "evaluates", "rollouts"),
    [(4, 1, (0, 1, 2)), (4, 2, (0, 2, 4)), (4, 6, (0, 2, 4)), (4, 8, (0, 4, 8)), (3, 7, (0, 1, 3)), (1, 5, (0, 1, 2))],
)
def test_an_evaluation_brings_an_update_of_its_own(interval, evaluates, rollouts):
    args = {"update_weights_interval": interval, "eval_interval": evaluates}
    assert bound_of(fully_async_max_staleness=2, **args).rollouts == rollouts


def test_epochs_end_with_an_evaluation():
    args = {"num_rollout": None, "num_epoch": 3, "update_weights_interval": 4, "eval_interval": 4}
    assert bound_of(10, **args).rollouts == (0, 2)
    assert bound_of(10, **args | {"eval_interval": None}).rollouts == (0, 4)
    assert bound_of(10, **args | {"num_rollout": 30}).rollouts == (0, 4)  # epochs do not count then


def test_a_run_that_ends_before_that_many_updates_takes_all_its_rollouts():
    assert bound_of(num_rollout=3, fully_async_max_staleness=5).rollouts == (0, 1, 2, 3, 3, 3)


@settings(max_examples=60)
@given(st.integers(1, 6), st.none() | st.integers(1, 6), st.none() | st.integers(1, 6), st.integers(0, 3))
def test_as_many_rollouts_are_taken_as_the_loop_makes(interval, evaluates, per_epoch, updates):
    """Whatever rollout it is, as many as the bound says follow it before the loop has updated the weights too often."""
    epochs = {} if per_epoch is None else {"num_rollout": None, "num_epoch": 7}
    total = 40 if per_epoch is None else 7 * per_epoch
    schedule = Schedule(0, total, per_epoch, evaluates, None, False, interval)
    args = {"num_rollout": 40, "eval_interval": evaluates, "update_weights_interval": interval, **epochs}
    bound = bound_of(per_epoch, fully_async_max_staleness=updates, **args)
    for first in range(total):
        last = min(first + bound.rollouts[updates], total - 1)
        assert sum(schedule.sync(rollout_id) for rollout_id in range(first, last)) <= updates


def test_room_is_for_what_is_waited_for_and_what_is_taken_in_time():
    bound = Bound(updates=2, batch=4, rollouts=(0, 3, 6))
    assert [bound.room(outstanding, 0) for outstanding in (0, 20, 24, 30)] == [24, 4, 0, -6]
    assert bound.room(24, 4) == 4
    assert every(0, 4).room(0, 0) == 0 and every(0, 4).room(0, 4) == 4


def test_slack():
    bound = every(2, 4)
    assert [bound.slack(version, 7) for version in (7, 6, 5, 4, 9)] == [2, 1, 0, -1, 2]
    assert bound.slack(None, 7) == bound.slack(3, None) == 2


def test_what_would_be_too_old_next_time_is_waited_for():
    bound = every(1, 2)
    assert bound.enough([1, 1], [1, 1], 2)
    assert not bound.enough([1, 1], [0], 2)
    assert bound.enough([0, 1], [1, 1], 2)
    assert not bound.enough([1], [], 2)
    # Where all of a rollout is old already the rest is lost whatever is waited for; what is stale is not waited for.
    assert bound.enough([0, 0], [0, 0], 2) and bound.enough([1, 1], [-1], 2)


@settings(max_examples=60)
@given(ready=SLACKS, flying=SLACKS, batch=st.integers(1, 4), updates=st.integers(0, 3))
def test_what_is_left_can_be_taken_in_time_or_waiting_would_not_help(ready, flying, batch, updates):
    bound = every(updates, batch)
    ordered = sorted(ready)
    if not bound.enough(ordered, flying, batch):
        # Waiting helps: something is generated, or may be begun.
        assert flying or len(ready) < batch
        return
    taken, left = ordered[:batch], ordered[batch:] + flying
    for k in range(updates + 1):
        late = sum(slack <= k for slack in left) - k * batch
        assert late <= 0 or all(slack <= k for slack in taken)
