"""`sync import`."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from sync_tools.commands.options import Settings
from sync_tools.importer import import_tree
from sync_tools.terminal import clean, console, print_json
from sync_tools.upstream.mirror import cache_dir


def run(settings: Settings, at: str, to: Path) -> int:
    """Import a revision; 1 where a file or a site waits for a person."""
    out = console(stderr=True)
    with out.status(f"translating upstream at {clean(at)}") if out.is_terminal and not settings.json else nullcontext():
        done = import_tree(settings.upstream, at, to, settings.config, cache=cache_dir() / "translations")
    if settings.json:
        value = asdict(done)
        value.pop("commit")
        print_json(value)
    else:
        for site in done.unresolved:
            print(clean(f"{site.path}:{site.line}: unresolved: {site.what}: {site.why}"))
        counts = (
            f"{done.translated} translated, {done.identical} as they were, {done.dropped} dropped, {done.failed} failed"
        )
        print(f"{done.files} files of {done.upstream_commit[:12]} in {to}: {counts} ({done.seconds:.1f} s)")
    return 1 if done.failed or done.unresolved else 0
