"""The shim answers requests for a GPU with the CPU, says so, and is gone afterwards."""

import pytest

torch = pytest.importorskip("torch")

from vime.device.torch_shim import CpuShim

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")

REQUESTS = [
    lambda: torch.zeros(2, device="cuda"),
    lambda: torch.tensor([1.0], device=torch.device("cuda", 0)),
    lambda: torch.empty_like(torch.ones(2), device="cuda:0"),
    lambda: torch.ones(2).cuda(non_blocking=True),
    lambda: torch.ones(2).to("cuda"),
    lambda: torch.ones(2).to(device="cuda", dtype=torch.float32),
    lambda: torch.ones(2, pin_memory=True),
    lambda: torch.ones(2, device=torch.cuda.current_device()),
]


@pytest.mark.parametrize("request_gpu", REQUESTS)
def test_what_asks_for_a_gpu_is_on_the_cpu(request_gpu) -> None:
    with CpuShim():
        made = request_gpu()
        assert made.device == torch.device("cpu")
        assert made.type() == "torch.FloatTensor"
        assert not made.is_cuda
    with pytest.raises((AssertionError, RuntimeError)):
        request_gpu()


def test_other_devices_are_left_alone() -> None:
    with CpuShim():
        assert torch.empty(2, device="meta").to("meta").device.type == "meta"
        assert not torch.cuda.is_available()


def test_it_is_gone_after_an_error() -> None:
    before = torch.cuda.current_device, torch.cuda.synchronize
    with pytest.raises(ValueError, match="inside"), CpuShim():
        torch.cuda.synchronize()
        raise ValueError("inside")
    assert (torch.cuda.current_device, torch.cuda.synchronize) == before
