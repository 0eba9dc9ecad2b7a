"""`sync status`: what of upstream the fork has, what it lacks, and what waits for a person."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from sync_tools.adopt.expected import expected
from sync_tools.adopt.images import Images
from sync_tools.adopt.overlays import Standing, standing
from sync_tools.adopt.standing import BEHIND, Row, Waiting, rows, waiting
from sync_tools.adopt.survey import survey
from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.ledger import store
from sync_tools.ledger.desk import Desk
from sync_tools.ledger.due import as_of
from sync_tools.ledger.escape import plain
from sync_tools.ledger.judge import overlay_of
from sync_tools.plan.relations import mends
from sync_tools.plural import counted
from sync_tools.port.known import known
from sync_tools.port.style import seam_style
from sync_tools.terminal import clean, fitted, print_json, watched
from sync_tools.translate import Translator
from sync_tools.upstream.mirror import cache_dir
from sync_tools.upstream.resolve import newest
from sync_tools.upstream.window import Window, window

# A list that is longer says how many it leaves out.
SHOWN = 15
HEAD = f"  {'landing':<14}{'lines here':<12}  title"


@dataclass(frozen=True)
class Status:
    """Everything that the command says."""

    window: Window
    rows: tuple[Row, ...]
    waiting: tuple[Waiting, ...]
    overlays: tuple[Standing, ...]

    @property
    def needs_person(self) -> bool:
        """Being behind alone is no reason."""
        return any(w.open or w.expired for w in self.waiting) or any(o.expired for o in self.overlays)


def run(settings: Settings, tip: str | None, cutoff: str | None, every: bool) -> int:
    """Print it; 1 where an entry is open, or a decision or an overlay has run out. Raises SyncError without a cutoff."""
    with watched(settings.json, "looking for upstream's landings in the fork"):
        status = status_of(settings, tip, cutoff)
    if settings.json:
        print_json(_object(status))
    else:
        for line in lines(status, settings.config.upstream.repo, every):
            print(fitted(clean(line)))
    return 1 if status.needs_person else 0


def status_of(settings: Settings, tip: str | None, cutoff: str | None) -> Status:
    """The status of the fork's HEAD."""
    config, upstream, today = settings.config, settings.upstream, settings.today
    base = settings.repo.head()
    had = known(settings.repo, base, config)
    since = had.cutoff if cutoff is None else cutoff
    if since is None:
        raise SyncError(
            "nothing says which commit of upstream's the fork began at",
            "upstream.cutoff in sync.toml",
            "vime-sync init --cutoff REV adopts the fork, or name one with --cutoff",
        )
    tree = settings.repo.tree(base)
    span = window(upstream, since, newest(upstream, tip))
    translator = Translator(config, seam_style(tree, config), cache_dir() / "translations")
    found = survey(upstream, span, tree, config, translator)
    ledgers = [as_of(ledger, config, today) for ledger in store.read_all(tree, config)]
    branches = {ledger.upstream.commit: branch for branch, ledger in Desk(settings.repo, config).elsewhere()}
    images, overlaid = Images(upstream, translator), lambda path: overlay_of(config, path) is not None
    named = expected(found, images, config, overlaid) if config.overlays else ()
    return Status(
        span,
        rows(found, ledgers, had, branches, today, config),
        waiting(ledgers, config, today),
        standing(config, named, found.places.files, today),
    )


def _object(status: Status) -> dict[str, object]:
    behind = [row for row in status.rows if row.state in BEHIND]
    return {
        "cutoff": status.window.cutoff,
        "tip": status.window.tip,
        "prs": [asdict(row) for row in status.rows],
        "counts": _counts(status.rows),
        "behind": {"landings": len(behind), "lines": sum(row.behind for row in behind)},
        "waiting": [asdict(w) for w in status.waiting],
        "overlays": [asdict(o) for o in status.overlays],
    }


def _counts(found: Sequence[Row]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in found:
        counts[row.state] = counts.get(row.state, 0) + 1
    return dict(sorted(counts.items()))


def lines(status: Status, repo: str, every: bool) -> Iterator[str]:
    """For people: what needs one first, then what is missing, newest last, then what is there."""
    shown = None if every else SHOWN
    behind = [row for row in status.rows if row.state in BEHIND]
    yield f"{repo} {status.window.cutoff[:12]}..{status.window.tip[:12]}: {counted(len(status.rows), 'landing')}"
    yield from _person(status)
    for title, chosen in (
        ("Fixed upstream, intact here", [row for row in behind if _is_fix(row)]),
        ("Partly here", [row for row in behind if row.state == "partly"]),
        ("Not here", [row for row in behind if row.state == "absent" and not _is_fix(row)]),
    ):
        if chosen:
            yield f"\n{title}"
            yield HEAD
            yield from (_line(row) for row in chosen[:shown])
            if len(chosen) > len(chosen[:shown]):
                yield f"  and {len(chosen) - SHOWN} more (--all)"
    yield ""
    yield from _there(status.rows)
    yield f"{counted(len(behind), 'landing')} behind, {counted(sum(row.behind for row in behind), 'line')}"
    yield from _next(behind)


def _next(behind: Sequence[Row]) -> Iterator[str]:
    """What to do about it: a fix before anything else, and nothing twice that waits on a branch."""
    here = [row for row in behind if not row.branch]
    if row := next((row for row in here if _is_fix(row)), next(iter(here), None)):
        yield f"Next: vime-sync plan {_name(row).lstrip('#')}"


def _is_fix(row: Row) -> bool:
    """A landing that says that it mends something, and the lines that it mended all stand."""
    return row.intact and (mends(row.title) or row.title.startswith("Revert"))


def _person(status: Status) -> Iterator[str]:
    opened = [row for row in status.rows if row.state == "open"]
    later = [w for w in status.waiting if not w.open]
    if opened:
        yield "\nOpen: vime-sync ledger show N"
        yield from (
            f"  {_name(row):<14}{counted(row.open, 'entry', 'entries'):<12}  {plain(row.title)}" for row in opened
        )
    if later:
        yield "\nPut off or given up"
        for w in later:
            yield f"  {w.pr or '':<8}{w.entry[:8]}  {w.op:<9} {plain(w.path)}: {plain(w.reason)}{_terms(w.who, w.until, w.expired)}"
    told = [o for o in status.overlays if o.expired or o.taken_in]
    if told:
        yield "\nOverlays to look at"
        for o in told:
            taken = "; nothing differs there any more" if o.taken_in else ""
            yield f"  {plain(o.path)}: {plain(o.why)}{_terms(o.who, o.until, o.expired)}{taken}"


def _terms(who: str, until: str | None, expired: bool) -> str:
    when = f"{'ran out' if expired else 'until'} {until}" if until else ""
    said = ", ".join(filter(None, (who, when)))
    return f" ({said})" if said else ""


def _line(row: Row) -> str:
    place = f"(on {row.branch}) " if row.branch else ""
    return f"  {_name(row):<14}{f'{row.held} of {row.wanted}':<12}  {place}{plain(row.title)}"


def _there(found: Sequence[Row]) -> Iterator[str]:
    for state in ("ported", "landed", "superseded", "reverted", "skipped"):
        names = [_name(row) for row in found if row.state == state]
        if names:
            yield f"{state}: {len(names)} ({', '.join(names[-12:])}{' and earlier ones' if len(names) > 12 else ''})"


def _name(row: Row) -> str:
    return f"#{row.pr}" if row.pr is not None else row.commit[:12]
