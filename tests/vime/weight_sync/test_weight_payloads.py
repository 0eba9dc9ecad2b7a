"""What is sent to vLLM's own transfer engines is what their own validation takes."""

import dataclasses
import threading
import time
from types import SimpleNamespace
from unittest.mock import create_autospec

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("vllm.distributed.weight_transfer.base")

from sync_doubles import METAS, PLAN, ScriptedEngine

from vime.backends.megatron_utils.update_weight.engines import Delivery
from vime.backends.megatron_utils.update_weight.transports import ipc, nccl
from vime.backends.megatron_utils.update_weight.transports.ipc import IpcTransport
from vime.backends.megatron_utils.update_weight.transports.nccl import NcclTransport

TENSORS = [(meta.name, torch.full(meta.shape, float(number))) for number, meta in enumerate(METAS)]


class Taker:
    """An engine that has the given dataclasses of vLLM read what it is sent."""

    def __init__(self, url, init, update, workers=1):
        self.url, self._init, self._update, self.inits, self.updates = url, init, update, [], []
        self._workers = workers

    def world_size(self):
        return self._workers

    def init_weight_transfer_engine(self, info):
        self.inits.append(self._init(**info))

    def update_weights(self, info):
        self.updates.append(self._update(**info))


def test_nccl():
    from vllm.distributed.weight_transfer.nccl_engine import NCCLWeightTransferInitInfo, NCCLWeightTransferUpdateInfo

    group, sent = SimpleNamespace(destroy=lambda: None), []
    transport = NcclTransport(
        address="10.0.0.1",
        buffer_bytes=1024,
        open_group=lambda info: group,
        produce=lambda pairs, group, size: sent.extend(name for name, _ in pairs),
    )
    kinds = NCCLWeightTransferInitInfo, NCCLWeightTransferUpdateInfo
    engines = [Taker("a", *kinds, workers=2), Taker("b", *kinds, workers=1)]
    transport.connect(engines)
    inits = [engine.inits[0] for engine in engines]
    assert [(one.rank_offset, one.world_size, one.packed) for one in inits] == [(1, 4, True), (3, 4, True)]
    transport.send(engines, TENSORS, PLAN, delivery := Delivery())
    assert delivery.touched == {"a", "b"} and not delivery.failed
    for engine in engines:
        assert engine.updates[0].names == sent == [meta.name for meta in METAS]
        assert [getattr(torch, name) for name in engine.updates[0].dtype_names] == [torch.float32] * 3
    with pytest.raises(RuntimeError, match="at once"):
        transport.send(engines[:1], TENSORS, PLAN, Delivery())


def test_a_trainer_that_fails_does_not_wait_for_engines_that_wait_for_it():
    freed = threading.Event()

    class Waits(ScriptedEngine):
        def update_weights(self, info):
            freed.wait(20)

    def produce(pairs, group, size):
        raise MemoryError("no room to gather")

    transport = NcclTransport(
        address="10.0.0.1",
        buffer_bytes=1024,
        open_group=lambda info: SimpleNamespace(destroy=lambda: None),
        produce=produce,
    )
    engine = Waits("a")
    transport.connect([engine])
    began = time.monotonic()
    with pytest.raises(MemoryError):
        transport.send([engine], TENSORS, PLAN, delivery := Delivery())
    assert time.monotonic() - began < 10 and delivery.touched == {"a"}
    freed.set()


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


def test_vllm_s_own_functions_are_called_as_they_are_declared(monkeypatch):
    from vllm.distributed.device_communicators.pynccl import PyNcclCommunicator
    from vllm.distributed.weight_transfer import nccl_common, packed_tensor

    for module, name in (
        (packed_tensor, "packed_nccl_broadcast_producer"),
        (packed_tensor, "packed_ipc_producer"),
        (nccl_common, "stateless_init_process_group"),
    ):
        monkeypatch.setattr(module, name, create_autospec(getattr(module, name)))
    monkeypatch.setattr(torch.accelerator, "current_device_index", lambda: 3)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda place: SimpleNamespace(uuid=f"GPU-{place}"))

    info = NcclTransport(address="10.0.0.1", buffer_bytes=1024).init_infos([1], 4711)[0]
    nccl._open_group(info)
    assert nccl_common.stateless_init_process_group.call_args.args == ("10.0.0.1", 4711, 0, 2, 3)
    nccl._produce(TENSORS, create_autospec(PyNcclCommunicator, instance=True), 1024)
    sent = packed_tensor.packed_nccl_broadcast_producer.call_args.kwargs
    assert (sent["buffer_size_bytes"], sent["num_buffers"]) == (
        info["packed_buffer_size_bytes"],
        info["packed_num_buffers"],
    )
    assert callable(PyNcclCommunicator.destroy)
    ipc._produce(iter(TENSORS), 1024)
    assert packed_tensor.packed_ipc_producer.call_args.kwargs["gpu_uuid"] == "GPU-3"
