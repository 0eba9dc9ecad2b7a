"""How the packages lie upon each other: imports run down, and what is heavy is imported where it is needed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "vime"
LAYERS = (
    ("cli",),
    ("commands",),
    ("train",),
    ("ray",),
    ("rollout", "backends.megatron_utils"),
    ("observability", "backends.vllm_utils", "learning"),
    ("config",),
    ("utils", "device", "sandbox"),
    ("errors",),
)
"""From the top; a package imports from the layers below its own, never from its own layer or above."""
FACADES = {
    "utils.arguments",
    "utils.ppo_utils",
    "utils.tensor_backper",
    "utils.trace_utils",
    "utils.external_utils.command_utils",
}
"""Upstream's names of what is elsewhere here. Ported code imports them, and nothing of this package does."""
LIGHT = (
    "vime.cli",
    "vime.commands.report",
    "vime.config.resolve",
    "vime.rollout.vllm_rollout",
    "vime.observability.run_log",
)
HEAVY = {"torch", "ray", "vllm", "transformers", "megatron", "numpy", "pandas", "pyarrow"}
LONGEST = 300


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The name of each module below the package, with its syntax."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
        yield name, ast.parse(path.read_text("utf-8"))


def imported(tree: ast.Module) -> set[str]:
    """Every module of this package that is named by an import, at the head or within a function; names without `vime.`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("vime.") for name in found if name.startswith("vime.")}


def package(name: str) -> str:
    """The part that has a layer."""
    words = name.split(".")
    return ".".join(words[:2]) if words[0] == "backends" else words[0]


def test_no_import_runs_back_up() -> None:
    level = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}
    wrong = [
        f"{name} imports {other}"
        for name, tree in modules()
        if (own := package(name)) in level and name not in FACADES
        for other in sorted(imported(tree))
        if package(other) in level and package(other) != own and level[package(other)] <= level[own]
    ]
    assert not wrong


def test_every_package_has_its_layer() -> None:
    found = {package(name) for name, _ in modules()} - {"__init__", "backends"}
    assert found == {name for layer in LAYERS for name in layer}


def test_nothing_here_stands_on_a_facade() -> None:
    assert not [(name, FACADES & imported(tree)) for name, tree in modules() if FACADES & imported(tree) - {name}]


def test_a_facade_is_one() -> None:
    assert {name for name, _ in modules()} >= FACADES


def test_what_starts_often_imports_nothing_heavy() -> None:
    program = f"import sys\nfor name in {LIGHT!r}: __import__(name)\nprint(*{HEAVY!r} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT.parent, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_file_can_be_read_in_one_sitting() -> None:
    long = {
        path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if len(path.read_text().splitlines()) > LONGEST
    }
    assert not long
