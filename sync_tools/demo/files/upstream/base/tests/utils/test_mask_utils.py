from slime.utils.mask_utils import first_trainable, response_mask


def test_only_the_assistant_is_trained():
    turns = [("user", [1, 2]), ("assistant", [3]), ("tool", [4, 5]), ("assistant", [6, 7])]
    assert response_mask(turns) == [0, 0, 1, 0, 0, 1, 1]


def test_first_trainable_token():
    assert first_trainable([0, 0, 1, 1]) == 2
    assert first_trainable([0, 0]) is None
