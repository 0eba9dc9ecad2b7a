"""How the packages lie upon each other: imports run down, and few modules start a process."""

import ast
from collections.abc import Iterator
from pathlib import Path

import sync_tools

ROOT = Path(sync_tools.__file__).parent
LAYERS = (
    ("__main__", "reference"),
    ("cli",),
    ("commands",),
    ("replay", "adopt", "plan"),
    ("importer",),
    ("port",),
    ("verify", "ledger"),
    ("seam",),
    ("upstream", "ci"),
    ("translate", "merge"),
)
"""From the top; a package imports from the layers below its own, never from its own layer or above. What isn't named is a
module at the foot of the tree, which all may use, or the demo, which stands beside."""
STARTS_PROCESSES = {"gitio", "gitobjects", "formatters", "ci.render", "seam.outside", "seam.snapshot", "verify.sandbox"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The name of each module below the package, with its syntax."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
        if name.partition(".")[0] != "demo":
            yield name, ast.parse(path.read_text("utf-8"))


def imported(tree: ast.Module) -> set[str]:
    """Every module that is named by an import, at the head or within a function, but for annotations alone."""
    skipped = {
        node
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.unparse(test.test)
        for node in ast.walk(test)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def packages(names: set[str]) -> set[str]:
    """The parts right below sync_tools."""
    return {name.split(".")[1] for name in names if name.startswith("sync_tools.")}


def test_no_import_runs_back_up() -> None:
    level = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}
    wrong = [
        f"{name} imports {other}"
        for name, tree in modules()
        for other in sorted(packages(imported(tree)) & level.keys())
        if (own := name.partition(".")[0]) in level and other != own and level[other] <= level[own]
    ]
    assert not wrong


def test_every_package_has_its_layer() -> None:
    found = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert found - {"demo"} <= {name for layer in LAYERS for name in layer}


def test_a_module_at_the_foot_leads_to_no_package_that_leads_back_to_it() -> None:
    uses = {name.partition(".")[0]: set[str]() for name, _ in modules()}
    for name, tree in modules():
        uses[name.partition(".")[0]] |= packages(imported(tree)) & uses.keys() - {name.partition(".")[0]}
    for name in uses:
        reached, todo = set[str](), [name]
        while todo:
            new = uses[todo.pop()] - reached
            reached |= new
            todo += new
        assert name not in reached, f"{name} leads back to itself"


def test_few_modules_start_a_process() -> None:
    assert {name for name, tree in modules() if "subprocess" in imported(tree)} == STARTS_PROCESSES
