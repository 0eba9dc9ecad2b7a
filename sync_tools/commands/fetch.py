"""`sync fetch`."""

from contextlib import nullcontext
from pathlib import Path

from sync_tools.commands.options import Settings
from sync_tools.gitio import Repo
from sync_tools.terminal import console, print_json
from sync_tools.upstream.mirror import default_location, fetch, is_url, without_secrets
from sync_tools.upstream.resolve import main_line


def run(settings: Settings) -> int:
    """Make or update the mirror, and say where it is and what its newest commit is."""
    place = settings.place or default_location(settings.config)
    if not is_url(place):
        path = Repo.open(Path(place).expanduser()).git_dir
    elif settings.json:
        path = fetch(place)
    else:
        out = console(stderr=True)
        with out.status(f"fetching {without_secrets(place)}") if out.is_terminal else nullcontext():
            path = fetch(place)
    head = main_line(Repo.open(path))
    if settings.json:
        print_json({"upstream": without_secrets(place), "mirror": str(path), "head": head})
    else:
        print(f"{without_secrets(place)} is at {head[:12]} in {path}")
    return 0
