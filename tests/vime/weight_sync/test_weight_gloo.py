"""The gloo transport with real groups and real shared memory; engines are doubles in threads of this process."""

import time

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.distributed")

from sync_doubles import Refused, ScriptedEngine, control

from vime.backends.megatron_utils.update_weight.failures import Holds, WeightSyncFailed
from vime.backends.megatron_utils.update_weight.plan import describe, plan_weights
from vime.backends.megatron_utils.update_weight.session import WeightSync
from vime.backends.megatron_utils.update_weight.transports.gloo import GlooTransport
from vime.backends.megatron_utils.update_weight.transports.links import Link
from vime.backends.vllm_utils.weight_transfer.gloo_arrivals import GlooArrivals
from vime.backends.vllm_utils.weight_transfer.gloo_group import announce, decided, join, reach_store
from vime.backends.vllm_utils.weight_transfer.layout import buckets_of
from vime.backends.vllm_utils.weight_transfer.shared_memory import SharedArrivals, reach
from vime.backends.vllm_utils.weight_transfer.views import view_of

KINDS = (torch.float32, torch.bfloat16, torch.int8, torch.float64)
TENSORS = [(f"t{number}", torch.randn(number + 1, 7).to(KINDS[number % 4])) for number in range(9)]
PLAN = plan_weights(describe(TENSORS), 300)


class Receiver(ScriptedEngine):
    """Meets the trainer and takes buckets, as the engine's end does; `leave_at` ends its connection before that bucket."""

    def __init__(self, url, leave_at=None, seconds_a_bucket=0.0, **scripted):
        super().__init__(url, **scripted)
        self._seconds_a_bucket = seconds_a_bucket
        self._leave_at, self.way, self.got = leave_at, None, {}

    def init_weight_transfer_engine(self, info):
        super().init_weight_transfer_engine(info)
        store = reach_store(info["master_address"], info["master_port"], 10)
        shared = reach(info["shared"], 10)
        announce(store, info["rank_offset"], shares=shared is not None)
        self.way = shared if decided(store) else GlooArrivals(join(store, 1, info["world_size"], 10))

    def update_weights(self, info):
        super().update_weights(info)
        buckets = buckets_of(info["names"], info["dtype_names"], info["shapes"], info["bucket_counts"])
        try:
            for number, (bucket, buffer, release) in enumerate(self.way.received(buckets)):
                if number == self._leave_at:
                    self._leave_at = None
                    self.way.close()
                    raise Refused("the worker's connection broke")
                time.sleep(self._seconds_a_bucket)
                for meta, offset in zip(bucket.tensors, bucket.offsets, strict=True):
                    self.got[meta.name] = view_of(buffer, offset, meta.dtype, meta.shape).clone()
                release()
        except RuntimeError:
            self.open = False
            raise


@pytest.fixture(params=["shared", "gloo"], autouse=True)
def share(request):
    """Each test, both ways."""
    return request.param == "shared"


def run(engines, share, tensors=TENSORS):
    transport = GlooTransport(timeout=20, share=share)
    sync = WeightSync([engine.url for engine in engines], transport, bucket_bytes=300, control=control(engines))
    sync.connect()
    assert all(isinstance(engine.way, SharedArrivals if share else GlooArrivals) for engine in engines)
    try:
        return sync.update(tensors, PLAN, "7")
    finally:
        sync.close()


def assert_holds(engine):
    assert list(engine.got) == [name for name, _ in TENSORS]
    assert all(torch.equal(engine.got[name], tensor) for name, tensor in TENSORS)


@pytest.mark.parametrize("count", [1, 2])
def test_every_byte_arrives_at_every_engine(count, share):
    engines = [Receiver(f"http://{number}", seconds_a_bucket=0.02 * number) for number in range(count)]
    assert run(engines, share).nbytes == sum(tensor.nbytes for _, tensor in TENSORS)
    for engine in engines:
        assert_holds(engine)


@pytest.mark.parametrize("trouble", [{"failing": ["update_weights"]}, {"leave_at": 0}, {"leave_at": 2}])
def test_an_engine_that_refuses_or_leaves_is_sent_everything_again(trouble, share):
    """It hangs neither the trainer nor the other engine, and its group is formed anew."""
    engines = [Receiver("http://a"), Receiver("http://b", **trouble)]
    began = time.monotonic()
    assert run(engines, share).sent_again == ("http://b",)
    assert time.monotonic() - began < 10
    for engine in engines:
        assert_holds(engine)
    assert engines[0].calls.count("update_weights") == 1


def test_an_engine_whose_way_breaks_at_the_trainers_end_does_not_wait(share, monkeypatch):
    """It would until the timeout of 20 seconds."""
    sent, once = Link.send, [RuntimeError("the way broke")]

    def send(link, *packed):
        if link.engine.url == "http://b" and once:
            raise once.pop()
        return sent(link, *packed)

    monkeypatch.setattr(Link, "send", send)
    engines = [Receiver("http://a"), Receiver("http://b")]
    began = time.monotonic()
    assert run(engines, share).sent_again == ("http://b",)
    assert time.monotonic() - began < 10
    for engine in engines:
        assert_holds(engine)


def test_an_engine_that_refuses_always(share):
    engines = [Receiver("http://a"), Receiver("http://b", failing=["update_weights"] * 2)]
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines, share)
    assert caught.value.holds == {"http://a": Holds.NEW, "http://b": Holds.PARTIAL}
    assert_holds(engines[0])


def test_an_engine_that_does_not_join(share):
    with pytest.raises(Refused):
        run([Receiver("http://a", failing=["init_weight_transfer_engine"])], share)


def test_a_trainer_that_fails_in_the_middle_frees_the_engines(share):
    def broken():
        yield from TENSORS[:-1]
        raise MemoryError("no room")

    engines = [Receiver("http://a"), Receiver("http://b")]
    began = time.monotonic()
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines, share, broken())
    assert time.monotonic() - began < 10
    assert set(caught.value.holds.values()) == {Holds.PARTIAL} and "no room" in str(caught.value)
