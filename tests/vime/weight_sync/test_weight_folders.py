"""Published folders: whole or not there, checked before an engine reads them, copied whole."""

import errno
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

from safetensors import SafetensorError
from sync_doubles import METAS, PLAN, ScriptedEngine, control

from vime.backends.megatron_utils.update_weight.engines import Delivery
from vime.backends.megatron_utils.update_weight.failures import Holds, WeightSyncFailed
from vime.backends.megatron_utils.update_weight.plan import PlanMismatch, describe, plan_weights
from vime.backends.megatron_utils.update_weight.session import WeightSync
from vime.backends.megatron_utils.update_weight.transports.disk import DiskTransport, FolderNotSeen
from vime.backends.vllm_utils.weight_transfer.folders import copy_version, version_folder, weight_files

TENSORS = [(meta.name, torch.full(meta.shape, float(number))) for number, meta in enumerate(METAS)]


class Reader(ScriptedEngine):
    """An engine on the same host that reads what it is told to reload; `blind` sees no folder."""

    def __init__(self, url, blind=False):
        super().__init__(url)
        self._blind, self.read = blind, {}

    def collective_rpc(self, method, kwargs=None):
        self._called(method)
        if method == "weight_folder_files":
            return [{} if self._blind else weight_files(Path(kwargs["folder"]))]
        if method == "pull_weights":
            folders = [Path(kwargs[name]) for name in ("source_dir", "local_checkpoint_dir")]
            copy_version(folders[0], kwargs["target_version"], folders[1])
        if method == "reload_weights":
            for path in Path(kwargs["weights_path"]).glob("*.safetensors"):
                self.read |= safetensors.load_file(path)
        return [None]


def test_engines_read_what_was_published_and_nothing_is_left(tmp_path):
    engine, transport = Reader("a"), DiskTransport(tmp_path)
    transport.connect([engine])
    transport.send([engine], TENSORS, PLAN, delivery := Delivery())
    assert not delivery.failed and delivery.touched == {"a"}
    assert all(torch.equal(engine.read[name], tensor) for name, tensor in TENSORS)
    assert not list(tmp_path.iterdir())


def test_files_are_kept_on_demand(tmp_path):
    DiskTransport(tmp_path, keep_files=True).send([Reader("a")], TENSORS, PLAN, Delivery())
    assert len(weight_files(version_folder(tmp_path, 1))) == len(PLAN.buckets)


def test_an_engine_that_does_not_see_the_folder_is_not_told_to_reload(tmp_path):
    engine = Reader("a", blind=True)
    DiskTransport(tmp_path).send([engine], TENSORS, PLAN, delivery := Delivery())
    assert isinstance(delivery.failed["a"], FolderNotSeen) and not delivery.touched
    assert "reload_weights" not in engine.calls


@pytest.mark.parametrize(
    "tensors", [TENSORS[:2], [*TENSORS, ("more", torch.zeros(1))], [("x", torch.zeros(4, 4)), *TENSORS]]
)
def test_a_trainer_that_does_not_keep_to_the_plan_publishes_nothing(tmp_path, tensors):
    engine = Reader("a")
    with pytest.raises(PlanMismatch):
        DiskTransport(tmp_path, keep_files=True).send([engine], tensors, PLAN, Delivery())
    assert not list(tmp_path.iterdir()) and not engine.calls


def test_a_host_copies_a_version_whole(tmp_path):
    transport = DiskTransport(tmp_path / "shared", keep_files=True)
    transport.send([Reader("a")], TENSORS, PLAN, Delivery())
    for _ in range(2):
        copy_version(tmp_path / "shared", 1, tmp_path / "local")
        assert weight_files(tmp_path / "local") == weight_files(version_folder(tmp_path / "shared", 1))
    with pytest.raises(FileNotFoundError):
        copy_version(tmp_path / "shared", 9, tmp_path / "local")
    assert weight_files(tmp_path / "local")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local", "shared"]


def test_engines_of_one_host_share_its_copy(tmp_path):
    """Each is told to copy, at the same time, and to read it as soon as it did."""
    tensors = [(meta.name, torch.zeros(1 << 20)) for meta in METAS]
    plan = plan_weights(describe(tensors), 1 << 20)
    transport = DiskTransport(tmp_path / "shared", local_dir=str(tmp_path / "local"))
    engines = [Reader(f"http://{number}") for number in range(4)]
    for value in (1.0, 2.0, 3.0):
        for _, tensor in tensors:
            tensor.fill_(value)
        transport.send(engines, tensors, plan, delivery := Delivery())
        assert not delivery.failed
        assert all(torch.equal(engine.read[name], tensor) for engine in engines for name, tensor in tensors)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local", "shared"]


def test_a_copy_of_the_version_before_is_not_taken_for_the_new_one(tmp_path):
    """Its files have the same sizes."""

    class Behind(Reader):
        def collective_rpc(self, method, kwargs=None):
            return [None] if method == "pull_weights" and self.read else super().collective_rpc(method, kwargs)

    engine, transport = Behind("a"), DiskTransport(tmp_path / "shared", local_dir=str(tmp_path / "local"))
    transport.send([engine], TENSORS, PLAN, delivery := Delivery())
    assert not delivery.failed
    transport.send([engine], TENSORS, PLAN, delivery := Delivery())
    assert isinstance(delivery.failed["a"], FolderNotSeen) and not delivery.touched


def test_a_copy_that_finds_no_room_leaves_the_one_before(tmp_path, monkeypatch):
    transport = DiskTransport(tmp_path / "shared", keep_files=True)
    for _ in range(2):
        transport.send([Reader("a")], TENSORS, PLAN, Delivery())
    copy_version(tmp_path / "shared", 1, tmp_path / "local")

    def full(source, new):
        new.mkdir()
        (new / "part").write_bytes(b"x")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    with pytest.raises(OSError, match="No space"):
        copy_version(tmp_path / "shared", 2, tmp_path / "local")
    assert weight_files(tmp_path / "local") == weight_files(version_folder(tmp_path / "shared", 1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local", "shared"]


@pytest.mark.parametrize("keep", [False, True])
def test_what_a_killed_trainer_left_is_removed_and_kept_versions_are_not_written_over(tmp_path, keep):
    for name in ("weight_v000003", "weight_v000004.new", "weight_vault"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"x")
    transport = DiskTransport(tmp_path, keep_files=keep)
    transport.connect([])
    transport.send([Reader("a")], TENSORS, PLAN, Delivery())
    kept = ["weight_v000003", "weight_v000005"] if keep else []
    assert sorted(path.name for path in tmp_path.iterdir()) == [*kept, "weight_vault"]


def test_a_full_disk_leaves_all_engines_on_the_old_version(tmp_path, monkeypatch):
    def full(*_):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("vime.backends.megatron_utils.update_weight.transports.disk.save_file", full)
    engine = Reader("http://a")
    sync = WeightSync(["http://a"], DiskTransport(tmp_path), control=control([engine]))
    sync.connect()
    with pytest.raises(WeightSyncFailed, match="No space left") as caught:
        sync.update(TENSORS, PLAN, "7")
    assert caught.value.holds == {"http://a": Holds.OLD} and not engine.paused and engine.label == "default"
    assert not list(tmp_path.iterdir())
