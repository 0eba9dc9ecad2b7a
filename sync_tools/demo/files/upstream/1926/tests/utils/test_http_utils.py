from slime.utils.http_utils import MAX_WAIT_SECONDS, wait_before


def test_waits_grow_and_are_bounded():
    waits = [wait_before(attempt) for attempt in range(1, 9)]
    assert waits[:3] == [1.0, 2.0, 4.0]
    assert waits[-1] == MAX_WAIT_SECONDS
