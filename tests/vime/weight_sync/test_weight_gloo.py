"""The gloo transport with real groups; engines are doubles in threads of this process."""

import time

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.distributed")

from sync_doubles import Refused, ScriptedEngine, control

from vime.backends.megatron_utils.update_weight.failures import Holds, WeightSyncFailed
from vime.backends.megatron_utils.update_weight.plan import describe, plan_weights
from vime.backends.megatron_utils.update_weight.session import WeightSync
from vime.backends.megatron_utils.update_weight.transports.gloo import GlooTransport
from vime.backends.vllm_utils.weight_transfer.gloo_group import announce, join, reach_store
from vime.backends.vllm_utils.weight_transfer.layout import buckets_of
from vime.backends.vllm_utils.weight_transfer.views import view_of

KINDS = (torch.float32, torch.bfloat16, torch.int8, torch.float64)
TENSORS = [(f"t{number}", torch.randn(number + 1, 7).to(KINDS[number % 4])) for number in range(9)]
PLAN = plan_weights(describe(TENSORS), 300)


class Receiver(ScriptedEngine):
    """Joins groups and takes buckets, as the engine's end does; `leave_at` ends its connection before that bucket."""

    def __init__(self, url, leave_at=None, **scripted):
        super().__init__(url, **scripted)
        self._leave_at, self.group, self.got = leave_at, None, {}

    def init_weight_transfer_engine(self, info):
        super().init_weight_transfer_engine(info)
        store = reach_store(info["master_address"], info["master_port"], 10)
        announce(store, info["rank_offset"])
        self.group = join(store, info["rank_offset"], info["world_size"], 10)

    def update_weights(self, info):
        super().update_weights(info)
        buckets = buckets_of(info["names"], info["dtype_names"], info["shapes"], info["bucket_counts"])
        for number, bucket in enumerate(buckets):
            if number == self._leave_at:
                self._leave_at, self.open = None, False
                self.group.close()
                raise Refused("the worker's connection broke")
            buffer = torch.empty(bucket.nbytes, dtype=torch.uint8)
            try:
                self.group.wait(self.group.broadcast(buffer))
            except RuntimeError:
                self.open = False
                raise
            for meta, offset in zip(bucket.tensors, bucket.offsets, strict=True):
                self.got[meta.name] = view_of(buffer, offset, meta.dtype, meta.shape)


def run(engines, tensors=TENSORS):
    sync = WeightSync(
        [engine.url for engine in engines], GlooTransport(timeout=20), bucket_bytes=300, control=control(engines)
    )
    sync.connect()
    try:
        return sync.update(tensors, PLAN, "7")
    finally:
        sync.close()


def assert_holds(engine):
    assert list(engine.got) == [name for name, _ in TENSORS]
    assert all(torch.equal(engine.got[name], tensor) for name, tensor in TENSORS)


@pytest.mark.parametrize("count", [1, 3])
def test_every_byte_arrives_at_every_engine(count):
    engines = [Receiver(f"http://{number}") for number in range(count)]
    assert run(engines).nbytes == sum(tensor.nbytes for _, tensor in TENSORS)
    for engine in engines:
        assert_holds(engine)


@pytest.mark.parametrize("trouble", [{"failing": ["update_weights"]}, {"leave_at": 0}, {"leave_at": 2}])
def test_an_engine_that_refuses_or_leaves_is_sent_everything_again(trouble):
    """It hangs neither the trainer nor the other engine, and its group is formed anew."""
    engines = [Receiver("http://a"), Receiver("http://b", **trouble)]
    began = time.monotonic()
    assert run(engines).sent_again == ("http://b",)
    assert time.monotonic() - began < 10
    for engine in engines:
        assert_holds(engine)
    assert engines[0].calls.count("update_weights") == 1


def test_an_engine_that_refuses_always():
    engines = [Receiver("http://a"), Receiver("http://b", failing=["update_weights"] * 2)]
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines)
    assert caught.value.holds == {"http://a": Holds.NEW, "http://b": Holds.PARTIAL}
    assert_holds(engines[0])


def test_an_engine_that_does_not_join():
    with pytest.raises(Refused):
        run([Receiver("http://a", failing=["init_weight_transfer_engine"])])


def test_a_trainer_that_fails_in_the_middle_frees_the_engines():
    def broken():
        yield from TENSORS[:5]
        raise MemoryError("no room")

    engines = [Receiver("http://a"), Receiver("http://b")]
    began = time.monotonic()
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines, broken())
    assert time.monotonic() - began < 10
    assert set(caught.value.holds.values()) == {Holds.PARTIAL} and "no room" in str(caught.value)
