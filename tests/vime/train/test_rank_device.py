"""Which of the GPUs that its process sees a trainer rank takes."""

import pytest

from vime.ray.train_actor import visible_place


@pytest.mark.parametrize(
    ("gpus", "environ", "place"),
    [
        ([], {}, 0),
        ([3], {"CUDA_VISIBLE_DEVICES": "3"}, 0),
        (["3"], {"CUDA_VISIBLE_DEVICES": "1, 3"}, 1),
        ([3], {}, 3),
        ([3], {"CUDA_VISIBLE_DEVICES": ""}, 3),
    ],
)
def test_the_place_is_among_the_visible_ones(gpus: list, environ: dict[str, str], place: int) -> None:
    assert visible_place(gpus, environ) == place
