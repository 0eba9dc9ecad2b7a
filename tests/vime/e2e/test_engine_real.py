"""Real vLLM servers on a CPU: started, asked, killed, restarted, and gone afterwards."""

import asyncio
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import aiohttp
import pytest
from engine_world import config_of, eventually, runs
from tiny_model import write_tiny_model

from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.engine_errors import EngineCallFailed, EngineDied
from vime.backends.vllm_utils.engine_plan import EngineSpec
from vime.backends.vllm_utils.external import discover_external_engines
from vime.backends.vllm_utils.process import group_members
from vime.backends.vllm_utils.server_control import abort_servers_until_idle
from vime.backends.vllm_utils.vllm_engine import VLLMEngine
from vime.ray.servers import start_servers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vLLM"),
]
DISK = ("--update-weight-transport", "disk", "--update-weight-disk-dir", "weights")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("engines")
    write_tiny_model(made / "model")
    return made


def configuration(folder, *words):
    """The tiny model's own; its folder stays as it is."""
    written = (folder / "model" / "config.json").read_text()
    try:
        return config_of(folder, *DISK, *words)
    finally:
        (folder / "model" / "config.json").write_text(written)


@pytest.fixture(scope="module")
def engine(folder):
    """One engine for the tests that leave it as it was, with a proxy that answers nothing in the environment."""
    patch = pytest.MonkeyPatch()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        patch.setenv(name, "http://127.0.0.1:1")
    made = VLLMEngine(configuration(folder), EngineSpec(0), str(folder / "logs"))
    made.init(timeout=240)
    yield made
    made.shutdown()
    patch.undo()


def ask(url, tokens=8, prompt=(40, 41, 42), **sampling):
    """One generate request, which ends by length."""
    params = {"max_tokens": tokens, "ignore_eos": True, "logprobs": 1, **sampling}
    return EngineControl(url).call(
        "POST", "/inference/v1/generate", {"token_ids": list(prompt), "sampling_params": params}, timeout=120
    )


def in_background(call):
    """The outcome of `call` in a thread: join it and look into the list."""
    outcome = []

    def run():
        try:
            outcome.append(call())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def test_it_generates_what_a_rollout_needs(engine):
    answer = ask(engine.get_url(), temperature=0.5)
    choice = answer["choices"][0]
    assert len(choice["token_ids"]) == 8 and choice["finish_reason"] == "length"
    assert all(one["logprob"] < 0 for one in choice["logprobs"]["content"])
    assert answer["usage"]["prompt_tokens_details"] is not None


def test_its_logprobs_are_of_what_it_samples_from(engine):
    """This model's distribution is nearly flat. At a low temperature what is sampled from is not, and so its logprobs."""

    def furthest_from_flat(temperature):
        tokens = ask(engine.get_url(), temperature=temperature)["choices"][0]["logprobs"]["content"]
        return max(abs(token["logprob"] + math.log(128)) for token in tokens)

    assert furthest_from_flat(1.0) < 0.3 and furthest_from_flat(0.02) > 0.8


def test_it_is_one_group_of_two_processes(engine):
    assert len(group_members(engine.pid())) == 2


def test_a_seed_is_refused_before_it_kills(engine):
    with pytest.raises(EngineCallFailed, match="vllm-no-enable-chunked-prefill") as refused:
        ask(engine.get_url(), seed=3)
    assert refused.value.status == 400 and engine.health_generate()


def test_control_calls(engine):
    control = engine.control()
    engine.pause_generation()
    assert control.is_paused() and engine.health_generate()
    thread, outcome = in_background(lambda: ask(engine.get_url()))
    assert eventually(lambda: control.load() == 1), "the request waits"
    engine.continue_generation()
    thread.join(60)
    assert len(outcome[0]["choices"][0]["token_ids"]) == 8
    engine.flush_cache()
    control.update_weight_version("7")
    assert engine.get_weight_version() == "7"
    control.update_weight_version("default")


def test_running_requests_are_aborted_until_none_is_left(engine):
    thread, outcome = in_background(lambda: ask(engine.get_url(), tokens=120))
    assert eventually(lambda: engine.control().load() >= 1)
    asyncio.run(abort_servers_until_idle([engine.get_url()]))
    thread.join(60)
    assert engine.control().load() == 0
    assert outcome[0]["choices"][0]["finish_reason"] in ("abort", "length")


def test_weights_from_a_folder(engine, folder, tmp_path):
    prompt = {"prompt": (40, 41, 42, 43), "temperature": 0.0}
    before = ask(engine.get_url(), **prompt)["choices"][0]["token_ids"]
    write_tiny_model(tmp_path / "other", seed=5)
    engine.pause_generation()
    engine.update_weights_from_disk(str(tmp_path / "other"), weight_version=5)
    engine.flush_cache()
    engine.continue_generation()
    assert ask(engine.get_url(), **prompt)["choices"][0]["token_ids"] != before and engine.get_weight_version() == "5"
    engine.pause_generation()
    engine.update_weights_from_disk(str(folder / "model"), weight_version="default")
    engine.flush_cache()
    engine.continue_generation()
    assert ask(engine.get_url(), **prompt)["choices"][0]["token_ids"] == before


def test_it_can_be_used_as_one_that_runs_already(engine):
    (info,) = discover_external_engines([engine.get_url()])
    assert info.num_gpus == 1 and info.worker_type == "regular"


def test_killed_while_it_generates(folder):
    """A clear error at once, a restart at the same address, held back until the trainer's weights come; then nothing left."""
    made = VLLMEngine(configuration(folder), EngineSpec(1), str(folder / "logs"))
    try:
        url = made.init(timeout=240)
        members = group_members(made.pid())
        thread, outcome = in_background(lambda: ask(url, tokens=120))
        assert eventually(lambda: made.control().load() == 1)
        os.kill(made.pid(), signal.SIGKILL)
        thread.join(30)
        assert isinstance(outcome[0], EngineCallFailed) and outcome[0].status is None
        with pytest.raises(EngineDied, match="killed by SIGKILL"):
            made.health_generate()
        assert eventually(lambda: not any(map(runs, members))), "the engine's core ends with its server"
        assert made.restart(timeout=240) == url and made.control().is_paused()
        made.continue_generation()
        assert len(ask(url)["choices"][0]["token_ids"]) == 8
        members = group_members(made.pid())
    finally:
        made.shutdown()
    assert not any(map(runs, members))


def test_a_core_that_dies_takes_its_server_with_it(folder):
    made = VLLMEngine(configuration(folder), EngineSpec(2), str(folder / "logs"))
    try:
        made.init(timeout=240)
        (core,) = (pid for pid in group_members(made.pid()) if pid != made.pid())
        os.kill(core, signal.SIGKILL)
        assert eventually(lambda: not runs(made.pid()), 30)
        with pytest.raises(EngineDied) as died:
            made.health_generate()
        assert "EngineDeadError" in died.value.cause
    finally:
        made.shutdown()


def test_what_vllm_refuses_is_told(folder):
    """An option that it does not take: the error names it, and not only that the start failed."""
    spec = EngineSpec(3, overrides={"max_model_len": 100_000})
    made = VLLMEngine(configuration(folder), spec, str(folder / "logs"))
    with pytest.raises(EngineDied, match="max_model_len"):
        made.init(timeout=240)
    made.shutdown()


OWNER = """
import sys
from pathlib import Path
sys.path[:0] = {paths!r}
from test_engine_real import configuration
from vime.backends.vllm_utils.engine_plan import EngineSpec
from vime.backends.vllm_utils.vllm_engine import VLLMEngine
made = VLLMEngine(configuration(Path({folder!r})), EngineSpec(4), {logs!r})
made.init(timeout=240)
print(made.pid(), flush=True)
import time; time.sleep(1000)
"""


def test_nothing_outlives_an_owner_that_was_killed(folder):
    here = Path(__file__)
    paths = [str(here.parent), str(here.parents[2] / "support"), str(here.parents[3])]
    code = OWNER.format(paths=paths, folder=str(folder), logs=str(folder / "logs"))
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    members = group_members(int(owner.stdout.readline()))
    assert len(members) == 2
    owner.kill()
    owner.wait()
    assert eventually(lambda: not any(map(runs, members))), members


@pytest.mark.skipif(importlib.util.find_spec("vllm_router") is None, reason="needs vllm-router")
def test_two_engines_behind_a_router(folder):
    """Both get requests, a session stays on one, a killed router and a killed engine come back."""
    servers = start_servers(configuration(folder, "--rollout-num-gpus", "2"), logs=str(folder / "logs"))
    try:
        assert len(servers.urls) == 2 and servers.failures() == {}
        assert engines_of_sessions(servers, 12) == {1}, "each session stays on one engine"
        os.kill(servers.models[0].router.pid, signal.SIGKILL)
        assert eventually(lambda: not servers.models[0].router.alive)
        assert list(servers.failures()) == ["router of default"]
        servers.engines[0].engine.simulate_crash()
        again = servers.restart_dead(timeout=240)
        assert again.failures() == {} and again.stale == (0,) and again.urls == servers.urls
        EngineControl(again.urls[0]).resume()
        assert engines_of_sessions(again, 4) == {1}
    finally:
        servers.stop()
    assert servers.models[0].router.alive is False


def engines_of_sessions(servers, count):
    """On how many engines each of `count` sessions' requests ended, by the engines' own counters; both are used."""

    async def session(client, name):
        body = {"token_ids": [40, 41], "sampling_params": {"max_tokens": 1}}
        before = [finished(url) for url in servers.urls]
        for _ in range(3):
            async with client.post(
                f"{servers.router_url}/inference/v1/generate", json=body, headers={"x-session-id": name}
            ) as answer:
                assert answer.status == 200, await answer.text()
        after = [finished(url) for url in servers.urls]
        return tuple(i for i in range(2) if after[i] > before[i])

    async def run():
        async with aiohttp.ClientSession() as client:
            return [await session(client, f"session-{i}") for i in range(count)]

    used = asyncio.run(run())
    if count > 8:
        assert {engine for engines in used for engine in engines} == {0, 1}
    return set(map(len, used))


def finished(url):
    """How many requests an engine has finished."""
    text = EngineControl(url).call("GET", "/metrics")
    return sum(
        float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("vllm:request_success_total")
    )


def test_how_long_a_start_takes(folder):
    """Not a bound on a busy machine, only against a start that imports vLLM twice: it says the time."""
    made = VLLMEngine(configuration(folder), EngineSpec(5), str(folder / "logs"))
    began = time.monotonic()
    try:
        made.init(timeout=240)
        started = time.monotonic() - began
        began = time.monotonic()
        ask(made.get_url())
        first = time.monotonic() - began
        print(json.dumps({"start": round(started, 1), "first_request": round(first, 3), "load": os.getloadavg()}))
        assert first < 2.0
    finally:
        made.shutdown()
