"""`sync import`."""

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from sync_tools.commands.options import Settings
from sync_tools.importer import Imported, import_tree
from sync_tools.plural import counted
from sync_tools.terminal import clean, print_json, watched
from sync_tools.upstream.mirror import cache_dir


def run(settings: Settings, at: str, to: Path) -> int:
    """Import a revision; 1 where a file, a site or an old name waits for a person."""
    with watched(settings.json, f"translating upstream at {at}"):
        done = import_tree(settings.upstream, at, to, settings.config, cache=cache_dir() / "translations")
    if settings.json:
        value = asdict(done)
        value.pop("commit")
        print_json(value)
    else:
        for line in _lines(done, to):
            print(clean(line))
    return 1 if _waits(done) else 0


def _lines(done: Imported, to: Path) -> Iterator[str]:
    """What needs a person last but for the sum, so that it stands at the end of a terminal."""
    yield f"{'kind':<20}{'files':>7}{'translated':>12}{'as upstream':>13}"
    for kind in done.kinds:
        yield f"{kind.kind:<20}{kind.files:>7}{kind.translated:>12}{kind.identical:>13}"
    yield ""
    yield f"dropped: {counted(done.dropped, 'path')}"
    for reason in dict.fromkeys(d.reason for d in done.dropped_paths):
        yield f"  {reason}"
        yield from (f"    {d.path}" for d in done.dropped_paths if d.reason == reason)
    yield f"old names that stand for a reason: {sum(k.names for k in done.standing)}"
    for kept in done.standing:
        yield f"  {kept.names:>5} in {counted(kept.files, 'file')}: {kept.title} ({kept.reason})"
    yield f"old names that nothing keeps: {len(done.unjustified)}"
    yield from (f"  {left.path}:{left.line}: {left.name}" for left in done.unjustified)
    yield "rules that applied nowhere: " + (", ".join(done.unused_rules) or "none")
    yield f"unresolved: {counted(len(done.unresolved), 'site')}"
    for group in done.unresolved_groups:
        yield f"  {group.sites} {group.why}"
        yield from (f"    {s.path}:{s.line}: {s.what}" for s in done.unresolved if s.why == group.why)
    yield ""
    counts = (
        f"{done.translated} translated, {done.identical} as they were, {done.dropped} dropped, {done.failed} failed"
    )
    yield f"{done.files} files of {done.upstream_commit[:12]} in {to}: {counts} ({done.seconds:.1f} s)"
    if waits := _waits(done):
        yield f"Waits for a person, so the exit code is 1: {waits}."
    if done.commit:
        yield f"Next: cd {shlex.quote(str(to))}, decide what waits, then vime-sync status"


def _waits(done: Imported) -> str:
    """What makes the exit code 1, in words."""
    counts = (
        (done.failed, counted(done.failed, "file") + " that failed"),
        (len(done.unjustified), counted(len(done.unjustified), "old name") + " that nothing keeps"),
        (len(done.unresolved), counted(len(done.unresolved), "unresolved site")),
    )
    return ", ".join(words for count, words in counts if count)
