"""The command line and environment of an engine."""

import sys

import pytest
from engine_world import config_of

from vime.backends.vllm_utils.engine_plan import EngineSpec
from vime.backends.vllm_utils.kv_cache import kv_cache_bytes
from vime.backends.vllm_utils.launch import engine_launch
from vime.backends.vllm_utils.weight_transfer.extension import VimeWorkerExtension


def flags(launch):
    """What is given to the server: each flag and its value, True where it has none."""
    words = [word for word in launch.argv if word.startswith("--")]
    return {name: value or True for name, _, value in (word.removeprefix("--").partition("=") for word in words)}


def test_what_a_rollout_rests_on_is_there(tmp_path):
    launch = engine_launch(config_of(tmp_path, "--seed", "7"), port=1234, rank=2, environ={})
    given = flags(launch)
    assert launch.url == "http://127.0.0.1:1234" and (given["host"], given["port"]) == ("127.0.0.1", "1234")
    for name in ("enable-scale-out", "enable-prompt-tokens-details", "enable-server-load-tracking", "enforce-eager"):
        assert given[name] is True
    assert given["logprobs-mode"] == "processed_logprobs" and given["dtype"] == "float32"
    assert given["max-model-len"] == "128" and given["seed"] == "9" and given["tensor-parallel-size"] == "1"
    assert given["worker-extension-cls"].endswith(".VimeWorkerExtension") and "enable-sleep-mode" not in given
    assert str(tmp_path / "model") in launch.argv
    assert launch.env["VLLM_SERVER_DEV_MODE"] == "1"


@pytest.mark.parametrize(
    ("words", "backend"),
    [([], '{"backend": "vime_gloo"}'), (["--update-weight-transport", "disk", "--update-weight-disk-dir", "w"], None)],
)
def test_the_weight_transfer_follows_the_transport(tmp_path, words, backend):
    given = flags(engine_launch(config_of(tmp_path, *words), port=1, environ={}))
    assert given.get("weight-transfer-config") == backend


@pytest.mark.parametrize(
    ("words", "backend", "insecure"),
    [(["--rollout-num-gpus", "2"], "nccl", None), (["--colocate"], "ipc", "1")],
)
def test_gpus(tmp_path, words, backend, insecure, monkeypatch):
    monkeypatch.setenv("VIME_HOST_IP", "10.0.0.5")
    config = config_of(tmp_path, "--device", "cuda", "--debug-rollout-only", *words)
    launch = engine_launch(
        config, port=8000, gpus=(4, 5), environ={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    )
    assert f'"{backend}"' in flags(launch)["weight-transfer-config"]
    assert launch.env.get("VLLM_ALLOW_INSECURE_SERIALIZATION") == insecure
    assert launch.env["CUDA_VISIBLE_DEVICES"] == "4,5" and launch.url == "http://10.0.0.5:8000"
    assert "TORCHDYNAMO_DISABLE" not in launch.env and "PYTORCH_CUDA_ALLOC_CONF" not in launch.env
    assert ("enable-sleep-mode" in flags(launch)) is ("--colocate" in words)
    assert "kv-cache-memory-bytes" not in flags(launch)


def test_a_cpu_engine_starts_lean(tmp_path):
    env = engine_launch(config_of(tmp_path), port=1, environ={"OMP_NUM_THREADS": "8"}).env
    lean = {"TORCHDYNAMO_DISABLE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "OMP_NUM_THREADS": "1"}
    assert lean.items() <= env.items() and env["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"


def test_a_system_proxy_is_not_for_engines(tmp_path):
    environ = {"http_proxy": "http://proxy:1", "HTTPS_PROXY": "http://proxy:1", "no_proxy": "x", "HOME": "/h"}
    env = engine_launch(config_of(tmp_path), port=1, environ=environ).env
    assert not {"http_proxy", "HTTPS_PROXY"} & env.keys()
    assert (env["NO_PROXY"], env["no_proxy"], env["HOME"]) == ("*", "*", "/h")


def test_the_hook_of_pulled_weights_reaches_the_workers(tmp_path, monkeypatch):
    config = config_of(tmp_path, "--vllm-custom-pull-weights-pre-read-hook", "hook_of_a_test.note")
    monkeypatch.setenv(
        "VIME_PULL_WEIGHTS_PRE_READ_HOOK", engine_launch(config, port=1).env["VIME_PULL_WEIGHTS_PRE_READ_HOOK"]
    )
    (tmp_path / "hook_of_a_test.py").write_text(
        "seen = []\ndef note(source_dir, version): seen.append((source_dir, version))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "out" / "weight_v000003"
    source.mkdir(parents=True)
    (source / "model.safetensors").write_text("w")
    worker = VimeWorkerExtension()
    worker.local_rank = 0
    worker.pull_weights(str(tmp_path / "local"), str(tmp_path / "out"), 3)
    assert sys.modules["hook_of_a_test"].seen == [(str(tmp_path / "out"), 3)]
    assert (tmp_path / "local" / "model.safetensors").read_text() == "w"


def test_overrides_of_a_group_win(tmp_path):
    spec = EngineSpec(3, model_path="/m", num_gpus=4, overrides={"max_model_len": 99, "logprobs_mode": "raw_logprobs"})
    launch = engine_launch(config_of(tmp_path), port=1, spec=spec, environ={})
    given = flags(launch)
    assert given["max-model-len"] == "99" and given["logprobs-mode"] == "raw_logprobs"
    assert given["tensor-parallel-size"] == "4" and "/m" in launch.argv
    assert len([word for word in launch.argv if word.startswith("--logprobs-mode")]) == 1


def test_the_kv_cache_is_what_requests_can_fill(tmp_path):
    """Twice: two layers, keys and values, one head of 32 in float32, 4096 tokens, 256 requests."""
    args = config_of(tmp_path, "--rollout-max-context-len", "4096").args
    assert kv_cache_bytes(args) == 2 * (2 * 2 * 1 * 32 * 4) * 4096 * 256
    assert kv_cache_bytes(args.replace(vllm_server_concurrency=2)) == 256 * 1024**2
    assert kv_cache_bytes(args.replace(num_layers=400)) == 4 * 1024**3
    assert kv_cache_bytes(args.replace(num_layers=None)) == 4 * 1024**3
