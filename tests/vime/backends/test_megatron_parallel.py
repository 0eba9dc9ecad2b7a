"""Joining the ranks."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from types import SimpleNamespace

from vime.backends.megatron_utils.initialize import init, is_megatron_main_rank
from vime.backends.megatron_utils.parallel import init_parallel
from vime.device import detect


def test_one_rank_is_alone_and_can_join_again() -> None:
    for _ in range(2):
        place = init_parallel(device=detect("cpu"))
        assert (place.rank, place.world, place.tp_size, place.dp_size) == (0, 1, 1, 1)
        assert torch.distributed.get_backend() == "gloo"
        assert torch.zeros(1, device="cuda").device.type == "cpu"
        place.close()
        assert not torch.distributed.is_initialized()


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"world": 2, "tp": 4}, "2 ranks cannot be divided"), ({"world": 2}, "several ranks need `master`")],
)
def test_what_cannot_be_laid_out_is_refused(asked: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        init_parallel(device=detect("cpu"), **asked)


def test_a_failed_join_leaves_nothing() -> None:
    before = torch.cuda.current_device
    with pytest.raises(ValueError, match="Port"):
        init_parallel(world=1, master="127.0.0.1:no", device=detect("cpu"))
    assert torch.cuda.current_device is before
    assert not torch.distributed.is_initialized()


def test_upstreams_way_reads_the_environment() -> None:
    args = SimpleNamespace(
        tensor_model_parallel_size=1,
        pipeline_model_parallel_size=1,
        context_parallel_size=1,
        device="cpu",
        seed=5,
        custom_megatron_init_path=None,
    )
    drawn = []
    for _ in range(2):
        place = init(args, {"RANK": "0", "WORLD_SIZE": "1"})
        drawn.append(torch.rand(2))
        assert is_megatron_main_rank()
        place.close()
    assert torch.equal(*drawn)
