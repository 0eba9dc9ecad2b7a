"""Which way translated code reaches the engine in a tree, and the files of the seam where a port brings them."""

from importlib import resources
from typing import Literal

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.tree import Blob, Tree

Style = Literal["module", "vendor", "inline"]


def seam_folder(config: Config) -> str:
    return config.seam.module.replace(".", "/")


def has_seam(tree: Tree, config: Config) -> bool:
    folder = seam_folder(config)
    return tree.blob(f"{folder}/__init__.py") is not None or tree.blob(f"{folder}.py") is not None


def seam_style(tree: Tree, config: Config) -> Style:
    """The configured style, else: module where the tree has the seam, vendor where it lacks it."""
    return config.seam.style or ("module" if has_seam(tree, config) else "vendor")


def required_style(tree: Tree, config: Config) -> Style:
    """`seam_style`; raises SyncError where it is `module` by word of sync.toml and the tree has no seam to import."""
    style = seam_style(tree, config)
    if style == "module" and not has_seam(tree, config):
        raise SyncError(
            'the seam style is "module", and the tree has no seam',
            config.seam.module,
            'seam.module says where it is; seam.style = "vendor" brings it with the port',
        )
    return style


def seam_files(config: Config) -> dict[str, Blob]:
    """The seam of this distribution, at the path where the fork's code imports it."""
    folder, files = resources.files("vime.backends.vllm_utils.seam"), {}
    for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if item.name.endswith(".py"):
            files[f"{seam_folder(config)}/{item.name}"] = Blob(item.read_bytes())
    return files
