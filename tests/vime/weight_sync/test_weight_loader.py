"""Buckets on their way into a model, several at once; the model and its layers are doubles."""

import threading

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("vllm.distributed.weight_transfer.base")

from vime.backends.megatron_utils.update_weight.plan import plan_weights
from vime.backends.vllm_utils.weight_transfer import loader as loading
from vime.backends.vllm_utils.weight_transfer.direct import DirectLayers, _Layer
from vime.backends.vllm_utils.weight_transfer.layout import TensorMeta

PARTS = {"q": torch.arange(4.0), "k": torch.arange(4.0) + 10, "v": torch.arange(4.0) + 20}
BUCKETS = plan_weights([TensorMeta(f"t{number}", "float32", (4,)) for number in range(6)], 1).buckets


class Model(torch.nn.Module):
    """Writes down what it is given; refuses what is named so."""

    def __init__(self, refused=None):
        super().__init__()
        self.loaded, self._refused = {}, refused

    def load_weights(self, tensors):
        for name, tensor in tensors:
            if name == self._refused:
                raise ValueError(f"no parameter named {name}")
            self.loaded[name] = tensor


def send(model, direct):
    """Load buckets whose memory is used again as soon as it is released; all are, whatever happens."""
    released = []
    try:
        with loading.BucketLoader(model, direct, torch.device("cpu"), 1) as loader:
            for number, bucket in enumerate(BUCKETS):
                buffer = torch.full((4,), float(number)).view(torch.uint8)

                def release(number=number, buffer=buffer):
                    buffer.fill_(255)
                    released.append(number)

                loader.take((bucket, buffer, release))
            loader.finish()
    finally:
        assert sorted(released) == list(range(len(BUCKETS)))


@pytest.mark.parametrize("enough", [1, 40, 10**6])
def test_what_no_layer_takes_is_given_to_the_model_whole(monkeypatch, enough):
    monkeypatch.setattr(loading, "_ENOUGH", enough)
    model = Model()
    send(model, DirectLayers(model))
    assert {name: tensor.tolist() for name, tensor in model.loaded.items()} == {
        f"t{number}": [float(number)] * 4 for number in range(6)
    }


@pytest.mark.parametrize("enough", [1, 10**6])
def test_a_failure_is_raised_once_every_bucket_was_released(monkeypatch, enough):
    monkeypatch.setattr(loading, "_ENOUGH", enough)
    model = Model(refused="t2")
    with pytest.raises(ValueError, match="t2"):
        send(model, DirectLayers(model))
    assert "t5" not in model.loaded


def test_a_layer_that_fails_fails_the_update_and_nothing_more_is_loaded(monkeypatch):
    def take(parts):
        raise ValueError("[4] came for [5]")

    monkeypatch.setattr(loading, "_threads", lambda sharers: 1)
    taken = []
    direct = DirectLayers(model := Model())
    direct._by_name = {"t1": _Layer(take, ("t1",)), "t4": _Layer(taken.append, ("t4",))}
    with pytest.raises(ValueError, match=r"\[5\]"):
        send(model, direct)
    assert not taken and not model.loaded


def test_layers_are_packed_side_by_side(monkeypatch):
    """Two packs that wait for each other come to an end."""
    monkeypatch.setattr(loading, "_threads", lambda sharers: 2)
    meet = threading.Barrier(2, timeout=10)
    direct = DirectLayers(model := Model())
    direct._by_name = {name: _Layer(lambda parts: meet.wait(), (name,)) for name in ("t2", "t3")}
    send(model, direct)


@pytest.mark.parametrize("together", [("q", "k", "v"), ("q", "k"), ("v", "q"), ("k",), ()])
def test_a_layer_takes_its_parts_in_its_order_however_they_come(together):
    taken = []
    direct = DirectLayers(Model())
    layer = _Layer(lambda parts: taken.append(torch.cat(parts)), ("q", "k", "v"))
    direct._by_name = dict.fromkeys(layer.names, layer)
    for names in (together, *[(name,) for name in PARTS if name not in together]):
        views = {name: PARTS[name].clone() for name in names}
        assert [name for name, _ in direct.load([*views.items(), ("other", torch.zeros(1))])] == ["other"]
        for view in views.values():
            view.fill_(-1)
    (whole,) = taken
    assert torch.equal(whole, torch.cat([PARTS[name] for name in ("q", "k", "v")]))


@pytest.mark.parametrize(("cores", "sharers", "threads"), [(2, 1, 2), (2, 2, 1), (1, 4, 1), (64, 1, 4)])
def test_threads_are_for_cores_that_nobody_else_has(monkeypatch, cores, sharers, threads):
    monkeypatch.setattr(loading.os, "sched_getaffinity", lambda pid: range(cores), raising=False)
    monkeypatch.setattr(loading.torch, "get_num_threads", lambda: 1)
    assert loading._threads(sharers) == threads
