"""Every test of engines has a cache of its own, and nothing of the caller's environment that engines look at."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("FAKE_VLLM", "CUDA_VISIBLE_DEVICES", "FAKE_ROLE", "FAKE_LOGPROBS"):
        monkeypatch.delenv(name, raising=False)
