"""Published folders: whole or not there, checked before an engine reads them, copied whole."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

from sync_doubles import METAS, PLAN, ScriptedEngine

from vime.backends.megatron_utils.update_weight.engines import Delivery
from vime.backends.megatron_utils.update_weight.plan import PlanMismatch
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
