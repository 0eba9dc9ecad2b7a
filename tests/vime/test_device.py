"""The device: what is found without torch, and what follows."""

import sys
from pathlib import Path

import pytest

from vime.device import detect


def gpus(root: Path, count: int) -> Path:
    (root / "dev").mkdir()
    for number in range(count):
        (root / "dev" / f"nvidia{number}").touch()
    (root / "dev" / "nvidiactl").touch()
    return root


@pytest.mark.parametrize(
    ("count", "environ", "cuda_build", "kind", "seen"),
    [
        (0, {}, True, "cpu", None),
        (2, {}, True, "cuda", 2),
        (2, {}, False, "cpu", None),
        (4, {"CUDA_VISIBLE_DEVICES": "1,3"}, True, "cuda", 2),
        (4, {"CUDA_VISIBLE_DEVICES": "1,9,2"}, True, "cuda", 1),
        (4, {"CUDA_VISIBLE_DEVICES": "GPU-1a,GPU-2b"}, True, "cuda", 2),
        (4, {"CUDA_VISIBLE_DEVICES": ""}, True, "cpu", None),
        (4, {"CUDA_VISIBLE_DEVICES": "-1"}, True, "cpu", None),
    ],
)
def test_detection(tmp_path, count, environ, cuda_build, kind, seen):
    device = detect("auto", environ, gpus(tmp_path, count), cuda_build)
    assert device.kind == kind and (seen is None or device.count == seen)


def test_what_is_asked_for_wins(tmp_path):
    assert detect("cpu", {}, gpus(tmp_path, 2), True).is_cpu
    assert detect("cuda", {}, tmp_path / "none", False).kind == "cuda"


def test_what_follows():
    cpu, cuda = detect("cpu"), detect("cuda")
    assert (cpu.backend, cpu.dtype, cpu.trainer_threads) == ("gloo", "float32", 1)
    assert (cuda.backend, cuda.dtype, cuda.trainer_threads) == ("nccl", "bfloat16", None)
    assert [device.weight_transport(True) for device in (cpu, cuda)] == ["gloo", "ipc"]
    assert cpu.engine_env()["TORCHDYNAMO_DISABLE"] == "1" and cuda.engine_env() == {}
    assert cpu.engine_options("float32") == {"dtype": "float32", "enforce_eager": True}
    assert cpu.engine_options("float32", seeded=True)["enable_chunked_prefill"] is False


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("cuda: Optional[str] = None", "cpu"),
        ("cuda = None", "cpu"),
        ("cuda: Optional[str] = '12.8'", "cuda"),
        ("", "cuda"),
    ],
)
def test_a_torch_for_cpus_is_known_by_its_version_file(tmp_path, monkeypatch, line, kind):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('it must not be imported')")
    (tmp_path / "torch" / "version.py").write_text(f"__version__ = '2'\n{line}\nhip = None\n")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert detect("auto", {}, gpus(tmp_path, 1)).kind == kind
