"""What is sent to vLLM's own transfer engines is what their own validation takes."""

import dataclasses
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("vllm.distributed.weight_transfer.base")

from sync_doubles import METAS, PLAN

from vime.backends.megatron_utils.update_weight.engines import Delivery
from vime.backends.megatron_utils.update_weight.transports.ipc import IpcTransport
from vime.backends.megatron_utils.update_weight.transports.nccl import NcclTransport

TENSORS = [(meta.name, torch.full(meta.shape, float(number))) for number, meta in enumerate(METAS)]


class Taker:
    """An engine that has the given dataclasses of vLLM read what it is sent."""

    def __init__(self, url, init, update):
        self.url, self._init, self._update, self.inits, self.updates = url, init, update, [], []

    def init_weight_transfer_engine(self, info):
        self.inits.append(self._init(**info))

    def update_weights(self, info):
        self.updates.append(self._update(**info))


def test_nccl():
    from vllm.distributed.weight_transfer.nccl_engine import NCCLWeightTransferInitInfo, NCCLWeightTransferUpdateInfo

    group, sent = SimpleNamespace(destroy=lambda: None), []
    transport = NcclTransport(
        address="10.0.0.1",
        workers=2,
        buffer_bytes=1024,
        open_group=lambda info: group,
        produce=lambda pairs, group, size: sent.extend(name for name, _ in pairs),
    )
    engines = [Taker(url, NCCLWeightTransferInitInfo, NCCLWeightTransferUpdateInfo) for url in ("a", "b")]
    transport.connect(engines)
    inits = [engine.inits[0] for engine in engines]
    assert [(one.rank_offset, one.world_size, one.packed) for one in inits] == [(1, 5, True), (3, 5, True)]
    transport.send(engines, TENSORS, PLAN, delivery := Delivery())
    assert delivery.touched == {"a", "b"} and not delivery.failed
    for engine in engines:
        assert engine.updates[0].names == sent == [meta.name for meta in METAS]
        assert [getattr(torch, name) for name in engine.updates[0].dtype_names] == [torch.float32] * 3
    with pytest.raises(RuntimeError, match="at once"):
        transport.send(engines[:1], TENSORS, PLAN, Delivery())


def test_ipc(monkeypatch):
    from vllm.distributed.weight_transfer.ipc_engine import IPCWeightTransferInitInfo, IPCWeightTransferUpdateInfo
    from vllm.distributed.weight_transfer.packed_tensor import PackedIpcChunk

    monkeypatch.setenv("VLLM_ALLOW_INSECURE_SERIALIZATION", "1")

    def produce(pairs, buffer_bytes):
        for name, tensor in pairs:
            sizes = [tensor.nbytes]
            yield PackedIpcChunk([name], [list(tensor.shape)], ["float32"], sizes, {"GPU-1": ("handle", 0)})

    transport = IpcTransport(buffer_bytes=1024, produce=produce)
    engine = Taker("a", IPCWeightTransferInitInfo, IPCWeightTransferUpdateInfo)
    transport.connect([engine])
    assert engine.inits[0].packed
    transport.send([engine], TENSORS, PLAN, Delivery())
    assert [update.names for update in engine.updates] == [[meta.name] for meta in METAS]
    assert all(update.ipc_handles == {"GPU-1": ("handle", 0)} for update in engine.updates)
    assert {field.name for field in dataclasses.fields(engine.updates[0])} >= {"tensor_sizes"}
