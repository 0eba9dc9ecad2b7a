"""Weight sync where layers do not take their weight whole: such as have a bias, and such as several workers share."""

import pytest

sync = pytest.importorskip("sync_world")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def biased(tmp_path_factory):
    """(url, two models): a server that began with the first; what its projections are made of comes to vLLM one by one."""
    root = tmp_path_factory.mktemp("biased")
    models = [sync.biased_model(root / f"model{seed}", seed) for seed in (0, 1)]
    with sync.servers(sync.engine_config(root / "model0"), 1, root / "logs") as (server,):
        yield server.url, models


def test_what_a_send_that_broke_off_left_is_not_mixed_with_what_follows(biased):
    """vLLM counts what a layer has had: one that had a part would be full before all of the next send has come, and either
    refuse the rest or mix both."""
    url, (old, new) = biased
    sync.sync_to([url], sync.GlooTransport(), old, "1", compare_in="float32")
    tensors = sync.weights(new)
    before_values = [name for name, _ in tensors].index("model.layers.0.self_attn.v_proj.weight")

    def fail():
        raise MemoryError("no room to gather")

    with pytest.raises(sync.WeightSyncFailed, match="no room to gather") as caught:
        sync.send([url], sync.GlooTransport(), sync.killing(tensors, fail, before_values), "2", tensors)
    assert caught.value.holds == {url: sync.Holds.PARTIAL}
    assert not sync.sync_to([url], sync.GlooTransport(), new, "2", compare_in="float32").sent_again
    assert sync.difference(url, new, sync.prompt(1))[1] < 1e-3


def test_an_engine_of_two_workers_says_that_it_has_two(tmp_path):
    """Each splits every layer with the other."""
    models = [sync.tiny_model(tmp_path / f"model{seed}", False, seed) for seed in (0, 1)]
    config = sync.engine_config(tmp_path / "model0", "--rollout-num-gpus-per-engine=2", "--rollout-num-gpus=2")
    with sync.servers(config, 1, tmp_path / "logs") as (server,):
        for version, (way, model) in enumerate((("shared", models[1]), ("gloo", models[0])), 1):
            sync.sync_to([server.url], sync.transport(way, tmp_path), model, str(version))
            assert sync.difference(server.url, model, sync.prompt(1))[1] < 1e-3
