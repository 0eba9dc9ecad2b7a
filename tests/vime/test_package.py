"""What the package is from outside: light to import, and a command that says what it can do."""

import pkgutil
import subprocess
import sys

import pytest

import vime
from vime.cli import main

HEAVY = ("torch", "vllm", "transformers", "numpy", "PIL", "ray", "megatron", "safetensors")
HEAVY_PARTS = (
    "vime.backends.megatron_utils",
    "vime.backends.vllm_utils.weight_transfer",
    "vime.device.torch_shim",
    "vime.learning",
    "vime.observability.train_data_utils",
    "vime.ray",
    "vime.train.main",
    "vime.train.run",
    "vime.utils.ppo_utils",
    "vime.utils.tensor_backper",
)
"""The trainer, the engine's plugin, and the driver: what runs where these libraries are installed."""
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(vime.__path__, "vime.", onerror=lambda name: None)
    if not module.name.startswith(HEAVY_PARTS)
)


def test_every_module_imports_without_the_heavy_libraries():
    code = (
        "import sys, importlib\n"
        f"for name in {HEAVY!r}: sys.modules[name] = None\n"
        f"for name in {MODULES!r}: importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_types_and_tracing_need_no_http_client():
    code = (
        "import sys, vime.utils.types, vime.utils.misc, vime.observability.trace_utils; print('aiohttp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("argv", [[], ["--help"]])
def test_help_says_what_there_is(argv, capsys):
    try:
        assert main(argv) == 0
    except SystemExit as stop:
        assert stop.code == 0
    shown = capsys.readouterr().out
    assert "vime train" in shown and "vime report RUN" in shown and "sync" in shown


def test_version_and_wrong_arguments(capsys):
    assert main(["--version"]) == 0 and capsys.readouterr().out.startswith("vime ")
    for words in (["nonsense"], ["train"], ["--nonsense"]):
        assert main(words) == 2
        assert capsys.readouterr().err.startswith("error: ")
