"""The port of one change set, from values to values: files, CI, checks, ledger. It writes nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sync_tools.config import Config
from sync_tools.formatters import format_all
from sync_tools.ledger.account import ledger as make_ledger
from sync_tools.ledger.decide import settle
from sync_tools.ledger.view import FileView
from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.outcome import FileOutcome
from sync_tools.port.ci import Workflows, check_workflows, port_workflows, workflow_files
from sync_tools.port.edits import Edits, final_edits, mechanical_edits, without_noops
from sync_tools.port.file import Setting, port_file
from sync_tools.port.ported import Files, Port, Unresolved
from sync_tools.port.siblings import needed
from sync_tools.port.style import has_seam, seam_files
from sync_tools.port.theirs import TranslatedTree
from sync_tools.tree import Blob, Overlay, Tree
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.verify.model import Context, packages_of
from sync_tools.verify.run import run as verify
from sync_tools.verify.source import Sources

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """How a change is ported. `upstream` is upstream's tree after it, asked only for what its checks need; `sources` what
    earlier ports of the same run parsed."""

    setting: Setting
    upstream: Tree | None = None
    run_tests: bool = False
    resolutions: Mapping[str, Blob | None] = field(default_factory=dict)
    decided_by: str = ""
    sources: Sources = field(default_factory=Sources, repr=False, compare=False)


def port_changes(changes: ChangeSet, job: Job, progress: Progress = lambda _: None) -> Port:
    """Port one change set onto `job.setting.tree`. Raises SyncError for hostile or unusable input."""
    files = port_files(changes, replace(job, setting=formatted_ahead(changes, job.setting)), progress)
    ledger = make_ledger(changes, files.outcomes, job.setting.config, ci=files.workflows.registrations)
    if job.resolutions:
        ledger = settle(ledger, job.resolutions.keys(), job.decided_by)
    return Port(changes, files, ledger)


def port_files(changes: ChangeSet, job: Job, progress: Progress = lambda _: None) -> Files:
    """The files of a change set, merged onto `job.setting.tree` and checked."""
    setting, tree, config = job.setting, job.setting.tree, job.setting.config
    arranged, workflows = arrange(changes, setting, progress)
    outcomes = [_settled(outcome, job) for outcome in arranged]
    mechanical, final = mechanical_edits(outcomes, tree), final_edits(outcomes, tree)
    final |= without_noops(workflows.edits, tree)
    if setting.translator.style == "vendor" and not has_seam(tree, config) and _names_seam(final.values(), config):
        final |= seam_files(config)
    final |= without_noops({p: b for p, b in job.resolutions.items() if not p.startswith(f"{config.ledgers}/")}, tree)
    theirs = TranslatedTree(job.upstream, setting) if job.upstream else None
    brought = {o.path: o.final for o in outcomes if _is_brought(o, setting)}
    if theirs and brought:
        final |= needed(brought, Overlay(tree, final), theirs)
    progress("checks")
    unresolved = tuple(unresolved_sites(outcomes))
    checks = verify(_context(job, outcomes, final, unresolved, theirs))
    if not workflows.conflicts:
        checks["ci"] = check_workflows(tree, Overlay(tree, final), theirs, final, config)
    return Files(tuple(outcomes), workflows, checks, mechanical, final, unresolved)


def arrange(
    changes: ChangeSet, setting: Setting, progress: Progress = lambda _: None
) -> tuple[list[FileOutcome], Workflows]:
    """What becomes of each file of a change, and of the matrix."""
    special = workflow_files(changes, setting.tree, setting.config)
    outcomes = []
    for change in changes.files:
        progress(change.path)
        outcomes.append(special[change.path] if change.path in special else port_file(change, setting))
    workflows = port_workflows(changes, [o for o in outcomes if o.change.path in special], setting)
    by_path = {o.change.path: o for o in workflows.outcomes}
    return [by_path.get(o.change.path, o) for o in outcomes], workflows


def _is_brought(outcome: FileOutcome, setting: Setting) -> bool:
    return outcome.ours is None and bool({outcome.path, outcome.change.path} & setting.brought)


def formatted_ahead(changes: ChangeSet, setting: Setting) -> Setting:
    """The setting with a formatter that has seen the change's images: a process a formatter, not one a file."""
    formatters, translator = setting.config.formatting, setting.translator
    images = [i for c in changes.files for i in (c.before, c.after) if i and i.mode in (REGULAR, EXECUTABLE)]
    items = [(translator.path(i.path), translator.file(i.path, i.data).data) for i in images if formatters]
    known = dict(zip(items, format_all(items, formatters), strict=True))

    def formatted(path: str, data: bytes) -> bytes:
        return known[path, data] if (path, data) in known else setting.format(path, data)

    return replace(setting, format=formatted)


def _settled(outcome: FileOutcome, job: Job) -> FileOutcome:
    """The outcome with a person's resolution of its conflicts in the place of the markers."""
    if not job.resolutions or not outcome.merged or not outcome.merged.conflicts:
        return outcome
    final = job.resolutions.get(outcome.path, outcome.ours)
    merged = replace(outcome.merged, final=final.data if final else b"", conflicts=())
    return replace(outcome, merged=merged, final=final, reason=f"resolved by {job.decided_by}")


def _names_seam(blobs: Iterable[Blob | None], config: Config) -> bool:
    parent, _, name = config.seam.module.rpartition(".")
    spellings = (config.seam.module.encode(), f"from {parent} import {name}".encode())
    return any(blob and any(s in blob.data for s in spellings) for blob in blobs)


def unresolved_sites(outcomes: Sequence[FileOutcome]) -> list[Unresolved]:
    """Sites whose statement the change touches; those of untouched lines were there before."""
    found = []
    for outcome in outcomes:
        sites = outcome.after.unresolved if outcome.after and outcome.disposition == "merged" else ()
        view = FileView(outcome)
        for site in sites:
            lines = range(site.line - 1, max(site.end_line, site.line))
            if any(h.new.start < lines.stop and lines.start < h.new.stop for h in outcome.change.hunks):
                first, whole = (
                    view.final.from_new.image(view.new.image_of(part))
                    for part in (range(lines.start, lines.start + 1), lines)
                )
                statement = range(first.start + 1, max(first.start, whole.stop) + 1)
                found.append(Unresolved(outcome.path, first.start + 1, site.what, site.why, statement))
    return found


def _context(
    job: Job, outcomes: Sequence[FileOutcome], final: Edits, unresolved: Sequence[Unresolved], theirs: Tree | None
) -> Context:
    setting, config = job.setting, job.setting.config
    after: Tree = Overlay(setting.tree, final)
    return Context(
        tree=after,
        base=setting.tree,
        upstream={o.path: o.after.data for o in outcomes if o.after},
        touched=frozenset(final),
        packages=packages_of(config, after),
        seam=config.seam.module,
        config=config,
        run_tests=job.run_tests,
        upstream_tree=theirs,
        sources=job.sources,
        reported={
            p: frozenset(n for u in unresolved if u.path == p for n in (u.line, *u.lines))
            for p in {u.path for u in unresolved}
        },
    )
