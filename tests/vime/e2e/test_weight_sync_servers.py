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


@pytest.mark.parametrize("way", ["gloo", "disk"])
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
