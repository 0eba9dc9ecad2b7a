"""What a sync calls in which order, and what engines hold when a call fails."""

import signal
import threading
import time

import pytest

torch = pytest.importorskip("torch")

from sync_doubles import METAS, PLAN, TENSORS, ScriptedEngine, ScriptedTransport, control

from vime.backends.megatron_utils.update_weight.failures import Holds, WeightSyncFailed, WrongWeights
from vime.backends.megatron_utils.update_weight.session import INCOMPLETE, WeightSync, compare

LOOKS = ("is_paused", "weight_version", "update_weight_version")


def run(engines, transport=None, tensors=TENSORS, version="7"):
    sync = WeightSync([engine.url for engine in engines], transport or ScriptedTransport(), control=control(engines))
    return sync.update(tensors, PLAN, version)


def two(**of_second):
    return [ScriptedEngine("http://a"), ScriptedEngine("http://b", **of_second)]


def assert_nothing_half_serves(engines):
    """The one law: an engine that serves holds one version whole, says so, and has no older cache."""
    for engine in engines:
        if not engine.paused and not engine._dead:
            assert engine.weights in ("old", "new") and not engine.open
            assert engine.cache == engine.weights
            assert engine.label == {"old": "default", "new": "7"}[engine.weights]


def test_the_order_on_every_engine():
    engines = two()
    report = run(engines)
    assert report.version == "7" and report.nbytes == PLAN.nbytes and report.engines == 2
    assert set(report.step_seconds) == {"stage", "stop", "begin", "send", "commit", "serve"}
    for engine in engines:
        acts = [call for call in engine.calls if call not in LOOKS]
        assert acts == [
            "pause",
            "start_weight_update",
            "update_weights",
            "finish_weight_update",
            "reset_prefix_cache",
            "resume",
        ]
        assert (engine.label, engine.weights, engine.cache, engine.paused) == ("7", "new", "new", False)


@pytest.mark.parametrize(
    "call", ["is_paused", "pause", "weight_version", "start_weight_update", "update_weight_version"]
)
def test_a_failure_before_any_data_leaves_all_on_the_old_version(call):
    engines = two(failing=[call])
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines)
    assert caught.value.holds["http://a"] == Holds.OLD
    assert call in str(caught.value)
    assert [engine.weights for engine in engines] == ["old", "old"]
    assert not engines[0].paused and engines[0].label == "default"
    assert_nothing_half_serves(engines)


@pytest.mark.parametrize("call", ["is_paused", "pause", "start_weight_update"])
def test_an_engine_that_was_paused_before_is_not_resumed_with_what_it_had(call):
    """As one that was started again, which has the checkpoint's weights."""
    engines = two(failing=[call])
    engines[0].paused = True
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines)
    assert caught.value.holds == {"http://a": Holds.OLD_PAUSED, "http://b": Holds.OLD}
    assert engines[0].paused and not engines[1].paused
    run(engines)
    assert [(engine.weights, engine.paused) for engine in engines] == [("new", False)] * 2


@pytest.mark.parametrize("call", ["update_weights", "finish_weight_update"])
def test_one_failure_in_mid_update_is_mended_by_sending_again(call):
    engines = two(failing=[call])
    assert run(engines).sent_again == ("http://b",)
    assert [engine.weights for engine in engines] == ["new", "new"]
    assert engines[0].calls.count("update_weights") == 1
    assert_nothing_half_serves(engines)


@pytest.mark.parametrize("call", ["update_weights", "finish_weight_update"])
def test_an_engine_that_fails_again_stays_paused(call):
    engines = two(failing=[call] * 3)
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines)
    assert caught.value.holds == {"http://a": Holds.NEW, "http://b": Holds.PARTIAL}
    assert engines[1].paused and engines[1].label == INCOMPLETE + "7"
    assert "http://b" in str(caught.value) and "sync again" in str(caught.value)
    assert_nothing_half_serves(engines)


def test_what_can_be_iterated_once_is_not_sent_again():
    engines = two(failing=["update_weights"])
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines, tensors=iter(TENSORS))
    assert caught.value.holds == {"http://a": Holds.NEW, "http://b": Holds.PARTIAL}


@pytest.mark.parametrize(
    ("call", "first"),
    [
        ("pause", Holds.OLD),
        ("start_weight_update", Holds.OLD),
        ("update_weights", Holds.NEW),
        ("finish_weight_update", Holds.NEW),
        ("reset_prefix_cache", Holds.NEW),
        ("resume", Holds.NEW),
    ],
)
def test_an_engine_that_dies(call, first):
    engines = two(dead_at=call)
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines)
    assert caught.value.holds == {"http://a": first, "http://b": Holds.NOTHING_KNOWN}
    assert "restart it" in str(caught.value)
    assert not engines[0].paused
    assert_nothing_half_serves(engines)


@pytest.mark.parametrize("call", ["reset_prefix_cache", "resume"])
def test_new_weights_with_an_old_cache_do_not_serve(call):
    engines = two(failing=[call])
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines)
    assert caught.value.holds == {"http://a": Holds.NEW, "http://b": Holds.NEW_PAUSED}
    assert engines[1].paused


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("no room"), RuntimeError("a bug")])
@pytest.mark.parametrize(("after", "holds"), [(0, Holds.OLD), (2, Holds.PARTIAL)])
def test_an_interrupted_trainer(error, after, holds):
    engines = two()
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else WeightSyncFailed
    with pytest.raises(expected) as caught:
        run(engines, ScriptedTransport(error, after))
    told = str(caught.value) if expected is WeightSyncFailed else caught.value.__notes__[-1]
    assert told.count(holds) == 2 and "the trainer" in told
    assert [engine.paused for engine in engines] == [holds is Holds.PARTIAL] * 2
    assert_nothing_half_serves(engines)


def test_a_half_updated_engine_is_not_taken_for_an_old_one_later():
    engines = two(failing=["update_weights"] * 2)
    with pytest.raises(WeightSyncFailed):
        run(engines)
    engines[0]._failing = ["start_weight_update"]
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines, version="8")
    assert caught.value.holds["http://b"] == Holds.PARTIAL and engines[1].paused
    engines[0]._failing = []
    run(engines, version="7")
    assert [engine.weights for engine in engines] == ["new", "new"]
    assert_nothing_half_serves(engines)


def test_a_half_updated_engine_whose_label_could_not_be_read_at_first():
    engines = two(failing=["update_weights"] * 2)
    with pytest.raises(WeightSyncFailed):
        run(engines)
    engines[1]._failing = ["weight_version"]
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines)
    assert caught.value.holds["http://b"] == Holds.PARTIAL and engines[1].paused


def test_engines_that_are_complete_serve_though_the_second_send_fails():
    class Once(ScriptedTransport):
        def send(self, engines, *rest):
            if len(engines) == 1:
                raise RuntimeError("all engines are sent to at once")
            super().send(engines, *rest)

    engines = two(failing=["update_weights"])
    with pytest.raises(WeightSyncFailed) as caught:
        run(engines, Once())
    assert caught.value.holds == {"http://a": Holds.NEW, "http://b": Holds.PARTIAL}
    assert_nothing_half_serves(engines)


def test_a_session_that_a_dead_trainer_left_open():
    engines = two()
    engines[1].pause("abort")
    engines[1].start_weight_update()
    run(engines)
    assert engines[1].weights == "new" and not engines[1].open


@pytest.mark.parametrize(
    ("held", "wrong"),
    [
        ({"embed": "1", "norm": "2", "embed@head": "1"}, []),
        ({"embed": "1", "norm": "2", "embed@head": "0"}, ["embed@head"]),
        ({"embed": "1", "norm": "0"}, ["norm"]),
        ({"embed": "1"}, ["norm"]),
        ({"embed": "1", "norm": "2", "more": "3"}, ["more"]),
    ],
)
def test_what_an_engine_holds_is_what_was_sent(held, wrong):
    sent = {"embed": "1", "norm": "2"}
    if not wrong:
        return compare(sent, [held, held])
    with pytest.raises(WrongWeights) as caught:
        compare(sent, [{"embed": "1", "norm": "2"}, held])
    assert caught.value.names == wrong


def test_a_version_that_is_not_read_back_does_not_count():
    class Forgetful(ScriptedEngine):
        def finish_weight_update(self, version=None):
            super().finish_weight_update(None)

    engines = [ScriptedEngine("http://a"), Forgetful("http://b")]
    with pytest.raises(WeightSyncFailed, match="not '7'") as caught:
        run(engines)
    assert caught.value.holds["http://b"] == Holds.PARTIAL and engines[1].paused
    assert engines[1].label == INCOMPLETE + "7", "who finds it does not take it for whole"


def test_weights_that_differ_do_not_keep_the_version():
    class Wrong(ScriptedEngine):
        def collective_rpc(self, method, kwargs=None):
            return [{"layer0.weight": "another"}]

    engines = [Wrong("http://a")]
    tensors = [(meta.name, torch.zeros(meta.shape)) for meta in METAS]
    sync = WeightSync(["http://a"], ScriptedTransport(), compare_in="float32", control=control(engines))
    with pytest.raises(WeightSyncFailed, match="differ from the trainer's") as caught:
        sync.update(tensors, PLAN, "7")
    assert caught.value.holds == {"http://a": Holds.PARTIAL}
    assert engines[0].paused and engines[0].label == INCOMPLETE + "7"


def test_an_interrupt_while_engines_stop_leaves_them_serving():
    """Whatever the engines were being told is over before they are brought back."""

    class Slow(ScriptedEngine):
        def pause(self, mode):
            super().pause(mode)
            pausing.set()
            time.sleep(0.3)

    pausing = threading.Event()
    engines = [Slow("http://a")]

    def interrupt():
        pausing.wait(10)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt) as caught:
            run(engines)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    time.sleep(0.5)
    assert Holds.OLD in caught.value.__notes__[-1]
    assert (engines[0].paused, engines[0].open, engines[0].label) == (False, False, "default")
