"""`sync init`: the built-in configuration as a sync.toml to change."""

from pathlib import Path

from sync_tools.commands.options import Settings, top_of
from sync_tools.configfile import render
from sync_tools.errors import SyncError
from sync_tools.files import write_atomically
from sync_tools.terminal import print_json


def run(settings: Settings, dry_run: bool) -> int:
    """Write sync.toml at the top of the fork. Raises SyncError where there is one."""
    target = top_of(settings.repo_path) / "sync.toml"
    if (settings.repo_path / "objects").is_dir() and (settings.repo_path / "HEAD").is_file():
        raise SyncError("a bare repository has no files to write", str(target.parent), "use a clone with a work tree")
    if target.exists() and not dry_run:
        raise SyncError("there is a sync.toml already", str(target), "change it, or move it away first")
    content = render(settings.config)
    if not dry_run:
        write_atomically(Path(target), content.encode())
    if settings.json:
        print_json({"path": str(target), "written": not dry_run, "text": content})
    else:
        print(content if dry_run else f"wrote {target}")
    return 0
