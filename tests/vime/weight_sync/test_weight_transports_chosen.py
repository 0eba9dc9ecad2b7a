"""Which transport the arguments give, and where engines find the trainer."""

from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from vime.backends.megatron_utils.update_weight.failures import WeightSyncFailed
from vime.backends.megatron_utils.update_weight.make import make_sync, own_address
from vime.backends.megatron_utils.update_weight.plan import plan_weights

ARGS = {
    "update_weight_buffer_size": 1 << 20,
    "update_weight_pause_mode": "abort",
    "rollout_num_gpus_per_engine": 1,
    "check_weight_update_equal": False,
    "update_weight_disk_keep_files": False,
    "update_weight_local_checkpoint_dir": None,
    "custom_update_weight_post_write_path": None,
    "dtype": "float32",
}


@pytest.mark.parametrize("way", ["gloo", "disk", "nccl", "ipc"])
def test_every_way_can_be_made(way, tmp_path):
    args = SimpleNamespace(**ARGS, update_weight_transport=way, update_weight_disk_dir=str(tmp_path))
    assert make_sync(args, ["http://127.0.0.1:1"]).bucket_bytes == 1 << 20


def test_requests_that_run_are_treated_as_the_arguments_say(tmp_path):
    args = SimpleNamespace(**ARGS | {"update_weight_pause_mode": "retract"}, update_weight_transport="gloo")
    sync, paused = make_sync(args, ["http://127.0.0.1:1"]), []
    (engine,) = sync._engines
    engine.pause, engine.is_paused = paused.append, lambda: False
    with pytest.raises(WeightSyncFailed):
        sync.update([], plan_weights([], 1), "2")
    assert paused == ["retract"]


def test_where_the_trainer_is_met(monkeypatch):
    monkeypatch.setenv("VIME_HOST_IP", "10.1.2.3")
    assert own_address(["http://127.0.0.1:1", "http://localhost:2"]) == "127.0.0.1"
    assert own_address(["http://127.0.0.1:1", "http://10.0.0.9:2"]) == "10.1.2.3"
    assert own_address(["http://[::1]:1", "http://[::1]:2"]) == "::1"
    assert own_address(["http://[::1]:1", "http://127.0.0.1:2"]) == "127.0.0.1"
    monkeypatch.delenv("VIME_HOST_IP")
    monkeypatch.setattr(
        "vime.backends.megatron_utils.update_weight.make.address_towards", {"2001:db8::9": "2001:db8::1"}.get
    )
    assert own_address(["http://[2001:db8::9]:1"]) == "2001:db8::1"
