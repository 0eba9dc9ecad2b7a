"""The engines of a run, with a vLLM and a router that start at once, in this process."""

import importlib.util
import json
import os
import signal
import socket
import urllib.request

import pytest
from engine_world import config_of, eventually, runs, use_fake_vllm

from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.engine_errors import EngineDied, EngineError, EngineHangs, PortTaken
from vime.backends.vllm_utils.engine_plan import EngineSpec
from vime.backends.vllm_utils.external import ExternalEngineUnusable, discover_external_engines
from vime.backends.vllm_utils.router import RouterControl
from vime.backends.vllm_utils.vllm_engine import VLLMEngine
from vime.ray.servers import start_servers
from vime.utils.network import get_free_port


@pytest.fixture
def engine(tmp_path, monkeypatch):
    use_fake_vllm(monkeypatch)
    made = VLLMEngine(config_of(tmp_path), EngineSpec(0), str(tmp_path / "logs"))
    yield made
    made.shutdown()


@pytest.fixture
def servers(tmp_path, monkeypatch):
    """Starts servers with options; they are stopped after the test."""
    started = []

    def start(*words, faults="", progress=None, router=True):
        use_fake_vllm(monkeypatch, faults, router)
        started.append(start_servers(config_of(tmp_path, *words), progress=progress, logs=str(tmp_path / "logs")))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def generate(url):
    """Who answered."""
    body = json.dumps({"token_ids": [1], "sampling_params": {}}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"{url}/inference/v1/generate", body, {"Content-Type": "application/json"})
    return json.load(opener.open(request, timeout=10))["choices"][0]["token_ids"][0]


def test_an_engine_under_upstreams_names(engine):
    url, pid = engine.init(), engine.pid()
    assert engine.init() == url and engine.pid() == pid, "started once"
    assert url == engine.get_url() and engine.health_generate(timeout=5.0) and engine.get_weight_version() == "default"
    engine.pause_generation()
    assert EngineControl(url).is_paused() and engine.health_generate()
    engine.continue_generation()
    assert not EngineControl(url).is_paused()
    engine.flush_cache()
    assert engine.status().state == "running" and "serving" in engine.log()
    engine.shutdown()
    assert engine.status().state == "stopped" and not runs(engine.pid())


def test_a_crash_is_told_and_mended_at_the_same_address(engine):
    url = engine.init()
    engine.simulate_crash()
    with pytest.raises(EngineDied, match="killed by SIGKILL"):
        engine.health_generate()
    assert engine.restart() == url and engine.health_generate()
    assert EngineControl(url).is_paused(), "it has the checkpoint's weights, and must wait for the trainer's"


def test_one_that_hung_up_and_is_about_to_end_died(engine, monkeypatch):
    use_fake_vllm(monkeypatch, "crash_after=0.5 hung_up=0.5")
    url = engine.init()
    assert eventually(lambda: not EngineControl(url).healthy(0.5)) and runs(engine.pid())
    with pytest.raises(EngineDied, match="ended with status 7"):
        engine.health_generate()


def test_one_that_runs_and_does_not_answer_hangs(engine):
    engine.init()
    os.kill(engine.pid(), signal.SIGSTOP)
    with pytest.raises(EngineHangs, match=r"runs and gave no answer within 0\.2 s"):
        engine.health_generate(timeout=0.2)
    engine.simulate_crash()


def test_another_address_where_the_old_one_is_taken(engine):
    url = engine.init()
    engine.simulate_crash()
    with socket.create_server(("127.0.0.1", int(url.rpartition(":")[2]))):
        assert engine.restart() != url and engine.health_generate()


def test_a_fixed_port_that_is_taken(engine):
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(PortTaken):
        engine.init(port=other.getsockname()[1])
    assert engine.status().state == "dead"


def test_a_port_that_is_lost_meanwhile_is_replaced(engine, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = iter([other.getsockname()[1], get_free_port(15_500)])
        monkeypatch.setattr("vime.backends.vllm_utils.vllm_engine.find_available_port", lambda base: next(ports))
        assert engine.init() and engine.health_generate()


def test_weights_that_are_not_there_are_not_loaded(engine, tmp_path):
    """vLLM would answer 500 and die at the next request."""
    engine.init()
    with pytest.raises(EngineError, match=r"no \*\.safetensors"):
        engine.update_weights_from_disk(str(tmp_path))
    (tmp_path / "model.safetensors").touch()
    engine.update_weights_from_disk(str(tmp_path), weight_version=3)
    assert engine.get_weight_version() == "3"


def test_one_engine_needs_no_router(servers):
    one = servers()
    assert (one.router_url,) == one.urls and one.models[0].router is None and one.failures() == {}
    args = one.args(one.config.args)
    assert f"http://{args.vllm_router_ip}:{args.vllm_router_port}" == one.urls[0] and args.rollout_num_engines == 1
    assert generate(one.router_url) == one.engines[0].engine.pid()


def test_several_have_one_and_stop_leaves_nothing(servers):
    two = servers("--rollout-num-gpus", "2")
    assert len(two.urls) == 2 and two.router_url not in two.urls
    assert RouterControl(two.router_url).workers() == list(two.urls)
    pids = [engine.engine.pid() for engine in two.engines]
    assert generate(two.router_url) in pids
    pids.append(two.models[0].router.pid)
    assert all(map(runs, pids))
    two.stop()
    assert not any(map(runs, pids))


def test_progress_is_told_for_all_together(servers):
    told = []
    servers("--rollout-num-gpus", "2", faults="slow=1.5", progress=told.append)
    assert told and told[0].startswith("engines: 0 of 2 ready, 1 s")


def test_one_that_cannot_start_stops_the_others(servers, tmp_path):
    with pytest.raises(EngineDied, match="ValueError: no-memory"):
        servers("--rollout-num-gpus", "2", faults="crash=no-memory")


def test_a_dead_engine_comes_back_paused_and_with_its_place_at_the_router(servers, monkeypatch):
    two, listed, restart = servers("--rollout-num-gpus", "2"), [], VLLMEngine.restart

    def watched(engine, timeout):
        listed.append(RouterControl(two.router_url).workers())
        return restart(engine, timeout)

    monkeypatch.setattr(VLLMEngine, "restart", watched)
    assert two.restart_dead() is two
    two.engines[0].engine.simulate_crash()
    assert list(two.failures()) == ["engine 0"]
    with pytest.raises(EngineDied):
        two.check()
    again = two.restart_dead()
    assert again.failures() == {} and again.stale == (0,) and again.urls == two.urls
    assert sorted(RouterControl(again.router_url).workers()) == sorted(again.urls)
    assert listed == [[two.urls[1]]], "no request reaches it before it is paused"
    assert [EngineControl(url).is_paused() for url in again.urls] == [True, False]
    assert again.synced().stale == ()


def test_a_dead_router_is_seen_and_comes_back(servers):
    two = servers("--rollout-num-gpus", "2")
    router = two.models[0].router
    os.kill(router.pid, signal.SIGKILL)
    assert eventually(lambda: not router.alive)
    assert list(two.failures()) == ["router of default"]
    with pytest.raises(EngineDied, match="killed by SIGKILL"):
        two.check()
    again = two.restart_dead()
    assert again.router_url == two.router_url and again.failures() == {} and again.stale == ()
    assert sorted(RouterControl(again.router_url).workers()) == sorted(two.urls)
    assert generate(again.router_url)


@pytest.mark.skipif(importlib.util.find_spec("vllm_router") is None, reason="needs vllm-router")
def test_the_real_router(servers):
    """Before engines that start at once: it answers, keeps its engines up to date, and comes back when it was killed."""
    two = servers("--rollout-num-gpus", "2", router=False)
    pids = {engine.engine.pid() for engine in two.engines}
    assert sorted(RouterControl(two.router_url).workers()) == sorted(two.urls) and generate(two.router_url) in pids
    two.engines[0].engine.simulate_crash()
    os.kill(two.models[0].router.pid, signal.SIGKILL)
    assert eventually(lambda: set(two.failures()) == {"engine 0", "router of default"})
    again = two.restart_dead()
    assert again.failures() == {} and again.stale == (0,) and again.router_url == two.router_url
    assert sorted(RouterControl(again.router_url).workers()) == sorted(again.urls)
    again.engines[1].engine.simulate_crash()
    last = again.restart_dead()
    assert sorted(RouterControl(last.router_url).workers()) == sorted(last.urls) and last.stale == (0, 1)
    assert generate(last.router_url) in {engine.engine.pid() for engine in two.engines}
    last.stop()
    assert not runs(last.models[0].router.pid)


def test_a_router_port_that_is_taken(servers):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        with pytest.raises(PortTaken, match="--vllm-router-port"):
            servers("--rollout-num-gpus", "2", "--vllm-router-port", port)


def test_models_of_their_own(servers, tmp_path):
    (tmp_path / "engines.yaml").write_text(
        "vllm:\n- {name: actor, server_groups: [{worker_type: regular, num_gpus: 1}]}\n"
        f"- {{name: judge, model_path: {tmp_path}, server_groups: [{{worker_type: regular, num_gpus: 1}}]}}\n"
    )
    both = servers("--vllm-config", str(tmp_path / "engines.yaml"), "--rollout-num-gpus", "2")
    assert len(both.models) == 2 and len(both.urls) == 1, "only the trained model gets weights"
    args = both.args(both.config.args)
    assert set(args.vllm_model_routers) == {"actor", "judge"}
    assert both.models[1].urls[0].endswith(f":{args.vllm_model_routers['judge'][1]}")


def test_engines_that_run_already_are_used_and_left_alone(engine, servers):
    url = engine.init()
    external = servers("--rollout-external-engine-addrs", url.removeprefix("http://"))
    assert external.urls == (url,) and generate(external.router_url) == engine.pid()
    external.stop()
    assert runs(engine.pid())
    engine.simulate_crash()
    with pytest.raises(EngineError, match="was not started here"):
        external.restart_dead()


def test_what_runs_already_must_be_usable(engine, monkeypatch):
    monkeypatch.setenv("FAKE_LOGPROBS", "raw_logprobs")
    with pytest.raises(ExternalEngineUnusable, match="--logprobs-mode processed_logprobs"):
        discover_external_engines([engine.init()])
    with pytest.raises(ExternalEngineUnusable, match="is it running"):
        discover_external_engines([f"127.0.0.1:{get_free_port(20_000)}"])


def test_how_it_describes_itself(engine):
    (info,) = discover_external_engines([engine.init()])
    assert (info.num_gpus, info.worker_type, info.is_pd_worker) == (2, "regular", False)
    assert info.parallel_config == {"tp_size": 2, "pp_size": 1, "ep_size": 1, "moe_dp_size": 1}


@pytest.mark.parametrize("address", ["h", "https://h:1", "h:x", "http://h:1/path", "::1:5"])
def test_what_is_no_address(address):
    with pytest.raises(ValueError, match="no address of an engine"):
        discover_external_engines([address])
