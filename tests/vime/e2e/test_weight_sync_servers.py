"""Weight sync to real vLLM servers on a CPU: what they say afterwards is what the trainer's model says."""

import pytest

sync = pytest.importorskip("sync_world")

pytestmark = pytest.mark.slow

MEAN, MOST = 1e-5, 1e-3
"""How far float32 logprobs may be apart."""


@pytest.fixture(scope="module", params=["tied", "untied"])
def world(request, tmp_path_factory):
    """(url, two models of different weights): a server that began with the first one's."""
    root = tmp_path_factory.mktemp(request.param)
    models = [sync.tiny_model(root / f"model{seed}", request.param == "tied", seed) for seed in (0, 1)]
    with sync.servers(sync.engine_config(root / "model0"), 1, root / "logs") as (server,):
        yield server.url, models, root


@pytest.mark.parametrize("way", ["shared", "gloo", "disk"])
def test_the_engine_says_what_the_model_says(world, way):
    url, models, root = world
    for version, model in (("1", models[1]), ("2", models[0]), ("3", models[1])):
        report = sync.sync_to([url], sync.transport(way, root), model, f"{way}{version}", compare_in="float32")
        assert report.nbytes == sum(tensor.nbytes for _, tensor in sync.weights(model))
        mean, most = sync.difference(url, model, sync.prompt(1))
        assert mean < MEAN and most < MOST
        other = models[0] if model is models[1] else models[1]
        assert sync.difference(url, other, sync.prompt(1))[0] > 0.1
    assert not list(root.glob("published/*"))


def test_the_prefix_cache_is_forgotten(world):
    """The same prompt before and after: nothing cached is used, and the answer is the new model's."""
    url, models, _ = world
    tokens = sync.prompt(2, 130)
    sync.sync_to([url], sync.GlooTransport(), models[0], "old")
    sync.greedy(url, tokens)
    assert sync.greedy(url, tokens)["cached"] >= 128
    sync.sync_to([url], sync.GlooTransport(), models[1], "new")
    answer = sync.greedy(url, tokens)
    assert (answer["cached"], answer["version"]) == (0, "new")
    said = sync.model_logprobs(models[1], [*tokens, *answer["tokens"]])[len(tokens) - 1 :]
    assert max(abs(a - b) for a, b in zip(said, answer["logprobs"], strict=True)) < MOST


def test_a_sync_left_out_is_seen(world):
    """The probe and the comparison of weights each see it; the engine's label alone would not."""
    url, models, _ = world
    sync.sync_to([url], sync.GlooTransport(), models[0], "1")
    step = sync.copy.deepcopy(models[0])
    with sync.torch.no_grad():
        for parameter in step.parameters():
            parameter.add_(1e-3)
    sync.EngineControl(url).update_weight_version("2")
    found = sync.probe([url], [sync.prompt(3), sync.prompt(4)], sync.log_probs_of(step))
    with pytest.raises(sync.ProbeFailed):
        sync.check_probe(found, sync.BOUNDS)
    sent = {name: sync.tensor_digest(name, tensor, "float32") for name, tensor in sync.weights(step)}
    with pytest.raises(sync.WrongWeights) as caught:
        sync.compare(sent, sync.EngineControl(url).collective_rpc("weight_digests"))
    assert set(sent) <= set(caught.value.names)
    sync.sync_to([url], sync.GlooTransport(), step, "2", compare_in="float32")
    sync.check_probe(sync.probe([url], [sync.prompt(3), sync.prompt(4)], sync.log_probs_of(step)), sync.BOUNDS)


def test_a_weight_that_was_not_sent_is_seen(world):
    """vLLM keeps the old one and says nothing."""
    url, models, _ = world
    sync.sync_to([url], sync.GlooTransport(), models[0], "1")
    with pytest.raises(sync.WeightSyncFailed, match=r"differ from the trainer's: model\.norm\.weight"):
        left_out = [pair for pair in sync.weights(models[1]) if pair[0] != "model.norm.weight"]
        sync.send([url], sync.GlooTransport(), left_out, "2", compare_in="float32")
    assert sync.EngineControl(url).is_paused()


def test_what_the_engine_cannot_load_leaves_it_paused_and_a_full_send_mends_it(world):
    url, models, _ = world
    sync.sync_to([url], sync.GlooTransport(), models[0], "1")
    wrong = [*sync.weights(models[1])[:-1], ("no.such.weight", sync.torch.zeros(4))]
    with pytest.raises(sync.WeightSyncFailed) as caught:
        sync.send([url], sync.GlooTransport(timeout=30), wrong, "2")
    assert caught.value.holds == {url: sync.Holds.PARTIAL} and "no module or parameter named" in str(caught.value)
    engine = sync.EngineControl(url)
    assert engine.is_paused() and engine.weight_version() == "incomplete:2"
    sync.sync_to([url], sync.GlooTransport(), models[1], "2", compare_in="float32")
    assert not engine.is_paused() and sync.difference(url, models[1], sync.prompt(5))[1] < MOST


def test_a_trainer_that_fails_before_its_first_tensor_changes_nothing(world):
    url, models, _ = world
    sync.sync_to([url], sync.GlooTransport(), models[0], "1")

    def broken():
        raise MemoryError("no room to gather")
        yield

    with pytest.raises(sync.WeightSyncFailed) as caught:
        sync.send([url], sync.GlooTransport(), broken(), "2", sync.weights(models[1]))
    assert caught.value.holds == {url: sync.Holds.OLD} and "no room to gather" in str(caught.value)
    engine = sync.EngineControl(url)
    assert not engine.is_paused() and engine.weight_version() == "1"
    assert sync.difference(url, models[0], sync.prompt(6))[1] < MOST
    sync.sync_to([url], sync.GlooTransport(), models[1], "2")
    assert sync.difference(url, models[1], sync.prompt(6))[1] < MOST


def test_a_folder_that_the_engine_does_not_see_does_not_end_it(world, tmp_path):
    url, models, _ = world
    sync.sync_to([url], sync.GlooTransport(), models[0], "1")

    def lose(folder, urls):
        next(sync.Path(folder).glob("*.safetensors")).unlink()

    with pytest.raises(sync.WeightSyncFailed) as caught:
        sync.send([url], sync.DiskTransport(tmp_path, after_write=lose), sync.weights(models[1]), "2")
    assert caught.value.holds == {url: sync.Holds.OLD}
    assert sync.difference(url, models[0], sync.prompt(7))[1] < MOST


@pytest.mark.parametrize(("after", "labels"), [(0, {"1", "incomplete:2"}), (16, {"incomplete:2"})])
def test_a_trainer_that_is_killed_leaves_nothing_that_half_serves(world, after, labels):
    """Whatever it had done, the engine is paused, or serves the old weights; the next trainer mends it."""
    url, models, root = world
    sync.sync_to([url], sync.GlooTransport(), models[0], "1")
    sync.killed_trainer(url, root / "model1", "2", after)
    engine = sync.EngineControl(url)
    assert engine.weight_version() in labels
    if not engine.is_paused():
        assert engine.weight_version() == "1"
        assert sync.difference(url, models[0], sync.prompt(9))[1] < MOST
    sync.sync_to([url], sync.GlooTransport(), models[1], "3", compare_in="float32")
    assert not engine.is_paused() and sync.difference(url, models[1], sync.prompt(9))[1] < MOST


def test_two_engines_and_one_killed_in_mid_update(world, tmp_path):
    """The other one has the new weights and serves; the killed one, restarted, gets them by the next sync."""
    url, models, root = world
    with sync.servers(sync.engine_config(root / "model0"), 1, tmp_path) as (second,):
        urls = [url, second.url]
        sync.sync_to(urls, sync.GlooTransport(), models[0], "1")
        killing = sync.killing(sync.weights(models[1]), second.kill, after=16)
        with pytest.raises(sync.WeightSyncFailed) as caught:
            sync.send(urls, sync.GlooTransport(timeout=30), killing, "2", sync.weights(models[1]))
        assert caught.value.holds == {url: sync.Holds.NEW, second.url: sync.Holds.NOTHING_KNOWN}
        assert "restart it" in str(caught.value)
        assert sync.difference(url, models[1], sync.prompt(8))[1] < MOST
        second.stop()
        second.start()
        second.wait_healthy(180)
        sync.sync_to(urls, sync.GlooTransport(), models[1], "2", compare_in="float32")
        for one in urls:
            mean, most = sync.difference(one, models[1], sync.prompt(8))
            assert mean < MEAN and most < MOST
            assert sync.EngineControl(one).weight_version() == "2"
