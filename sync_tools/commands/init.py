"""`sync init`: a sync.toml; with a cutoff, one that adopts the fork as it stands."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from sync_tools.adopt.adoption import Adoption, adopt
from sync_tools.adopt.standing import BEHIND, Row, rows
from sync_tools.commands.options import Settings, top_of
from sync_tools.configfile import adopted, render
from sync_tools.errors import SyncError
from sync_tools.files import write_atomically
from sync_tools.ledger import store
from sync_tools.ledger.desk import Desk
from sync_tools.plural import counted
from sync_tools.port.fork import Fork
from sync_tools.port.known import known
from sync_tools.terminal import clean, print_json, watched
from sync_tools.upstream.mirror import cache_dir
from sync_tools.upstream.resolve import newest
from sync_tools.upstream.window import window


def run(settings: Settings, dry_run: bool) -> int:
    """Write sync.toml at the top of the fork. Raises SyncError where there is one."""
    target = _target(settings)
    if target.exists() and not dry_run:
        raise SyncError(
            "there is a sync.toml already", str(target), "change it; --cutoff REV adds what adopting the fork needs"
        )
    content = render(settings.config)
    if not dry_run:
        write_atomically(target, content.encode())
    if settings.json:
        print_json({"path": str(target), "written": not dry_run, "text": content})
    else:
        print(content if dry_run else f"wrote {target}")
    return 0


def adopting(settings: Settings, cutoff: str, tip: str | None, dry_run: bool) -> int:
    """Write the cutoff and the fork's standing differences into its sync.toml, which keeps what it says. Raises SyncError
    where a cutoff stands there already."""
    target, config = _target(settings), settings.config
    if config.upstream.cutoff and target.exists():
        raise SyncError(
            f"the fork is adopted already, at {config.upstream.cutoff[:12]}",
            str(target),
            "vime-sync status says where it stands; take `cutoff` out to adopt it again",
        )
    upstream, repo = settings.upstream, settings.repo
    who = Fork(repo).committer()
    span = window(upstream, cutoff, newest(upstream, tip))
    tree = Desk(repo, config).here()
    with watched(settings.json, "comparing the fork with upstream"):
        found = adopt(repo, tree, upstream, span, config, cache_dir() / "translations", f"{who.name} <{who.email}>")
    ledgers, had = store.read_all(tree, config), known(repo, repo.head(), config)
    prs = rows(found.survey, ledgers, had, {}, datetime.now(UTC).date(), config)
    told = found.differences
    before = target.read_text("utf-8") if target.exists() else render(config)
    content = adopted(before, span.cutoff, told.overlays, told.moves)
    if not dry_run:
        write_atomically(target, content.encode())
    if settings.json:
        print_json(
            {
                "path": str(target),
                "written": not dry_run,
                "text": content,
                "cutoff": span.cutoff,
                "tip": span.tip,
                "prs": [asdict(row) for row in prs],
                "overlays": [o.model_dump(exclude_none=True) for o in told.overlays],
                "moved": [m.model_dump() for m in told.moves],
                "own_files": found.own,
            }
        )
        return 0
    if dry_run:
        print(clean(content))
    for line in _lines(found, prs):
        print(clean(line))
    print(clean(f"nothing was written (--dry-run): {target}" if dry_run else f"wrote {target}; commit it"))
    return 0


def _target(settings: Settings) -> Path:
    target = top_of(settings.repo_path) / "sync.toml"
    if (settings.repo_path / "objects").is_dir() and (settings.repo_path / "HEAD").is_file():
        raise SyncError("a bare repository has no files to write", str(target.parent), "use a clone with a work tree")
    return target


def _lines(found: Adoption, prs: tuple[Row, ...]) -> Iterator[str]:
    told = found.differences
    for overlay in told.overlays:
        yield f"{overlay.path}: {overlay.why.partition(': ')[2]}"
    for move in told.moves:
        yield f"{move.old} lives at {move.new}"
    counts = Counter(row.state for row in prs)
    states = ", ".join(f"{n} {state}" for state, n in counts.most_common()) or "none"
    yield f"{counted(len(prs), 'landing')} of upstream's since the cutoff: {states}"
    lacking = sum(row.state in BEHIND for row in prs)
    yield (
        f"{counted(len(told.overlays), 'path')} of upstream's differ here, {len(told.moves)} moved;"
        f" {counted(found.own, 'file')} the fork's own; {lacking} to bring"
    )
