"""How old groups may be: how many are begun, and which are waited for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import options

from vime.rollout.fully_async.staleness import Bound, oldest_version, version_number
from vime.utils.types import Sample

SLACKS = st.lists(st.integers(0, 3), max_size=12)


def of(*versions):
    return Sample(weight_versions=list(versions))


@pytest.mark.parametrize(
    ("label", "number"),
    [("12", 12), (3, 3), ("default", None), ("incomplete:5", None), (None, None), ("-1", None), ("²", None)],
)
def test_a_label_that_is_no_number_says_nothing(label, number):
    assert version_number(label) == number


def test_a_group_is_as_old_as_its_oldest_token():
    assert oldest_version([of("7", "8"), [of("6"), of("9")]]) == 6
    assert oldest_version([of(), of("incomplete:9")]) is None


def test_the_bound_is_of_the_options():
    args = options(fully_async_max_staleness=3, update_weights_interval=2, rollout_batch_size=5)
    assert Bound.of(args) == Bound(updates=3, batch=5, interval=2)
    assert Bound.of(options()).updates == 1


def test_room_is_for_what_is_waited_for_and_what_is_taken_in_time():
    bound = Bound(updates=2, batch=4, interval=3)
    assert [bound.room(outstanding, 0) for outstanding in (0, 20, 24, 30)] == [24, 4, 0, -6]
    assert bound.room(24, 4) == 4
    assert Bound(updates=0, batch=4).room(0, 0) == 0 and Bound(updates=0, batch=4).room(0, 4) == 4


def test_slack():
    bound = Bound(updates=2, batch=4)
    assert [bound.slack(version, 7) for version in (7, 6, 5, 4, 9)] == [2, 1, 0, -1, 2]
    assert bound.slack(None, 7) == bound.slack(3, None) == 2


def test_what_would_be_too_old_next_time_is_waited_for():
    bound = Bound(updates=1, batch=2)
    assert bound.enough([1, 1], [1, 1], 2)
    assert not bound.enough([1, 1], [0], 2)
    assert bound.enough([0, 1], [1, 1], 2)
    assert not bound.enough([1], [], 2)
    # Where all of a rollout is old already the rest is lost whatever is waited for; what is stale is not waited for.
    assert bound.enough([0, 0], [0, 0], 2) and bound.enough([1, 1], [-1], 2)


@settings(max_examples=60)
@given(ready=SLACKS, flying=SLACKS, batch=st.integers(1, 4), updates=st.integers(0, 3))
def test_what_is_left_can_be_taken_in_time_or_waiting_would_not_help(ready, flying, batch, updates):
    bound = Bound(updates=updates, batch=batch)
    ordered = sorted(ready)
    if not bound.enough(ordered, flying, batch):
        # Waiting helps: something is generated, or may be begun.
        assert flying or len(ready) < batch
        return
    taken, left = ordered[:batch], ordered[batch:] + flying
    for k in range(updates + 1):
        late = sum(slack <= k for slack in left) - k * batch
        assert late <= 0 or all(slack <= k for slack in taken)
