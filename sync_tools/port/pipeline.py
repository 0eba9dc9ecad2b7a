"""The port of one change set, from values to values: files, CI, checks, ledger. It writes nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sync_tools.config import Config
from sync_tools.formatters import format_all
from sync_tools.ledger.account import ledger as make_ledger
from sync_tools.ledger.decide import settle
from sync_tools.ledger.model import Entry, Ledger
from sync_tools.ledger.view import FileView
from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.outcome import FileOutcome
from sync_tools.port.ci import Workflows, check_workflows, port_workflows, workflow_files
from sync_tools.port.edits import Edits, final_edits, mechanical_edits, without_noops
from sync_tools.port.file import Setting, port_file
from sync_tools.port.paused import Stages
from sync_tools.port.siblings import needed
from sync_tools.port.style import has_seam, seam_files
from sync_tools.port.theirs import TranslatedTree
from sync_tools.tree import Blob, Overlay, Tree
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.verify.model import Check, Context, packages_of
from sync_tools.verify.run import run as verify
from sync_tools.verify.source import Sources

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Unresolved:
    """A site that was not translated, at its line in the fork's file after the port; `lines` are its statement's."""

    path: str
    line: int
    what: str
    why: str
    lines: range = range(0)


@dataclass(frozen=True)
class Files:
    """What came of a change's files. `mechanical` and `final` are edits of the base tree, ledgers left out."""

    outcomes: tuple[FileOutcome, ...]
    workflows: Workflows
    checks: Mapping[str, Check]
    mechanical: Edits
    final: Edits
    unresolved: tuple[Unresolved, ...]

    @property
    def conflicts(self) -> tuple[tuple[str, str], ...]:
        """(path, symbol) of every place where both sides changed."""
        files = [(o.path, c.symbol) for o in self.outcomes if o.merged for c in o.merged.conflicts]
        return tuple(files + [(self.workflows.template, c.symbol) for c in self.workflows.conflicts])

    @property
    def absent(self) -> tuple[str, ...]:
        return tuple(o.path for o in self.outcomes if o.disposition == "absent")

    @property
    def stages(self) -> dict[str, Stages]:
        """The three sides of every path in conflict."""
        found = {o.path: _stages(o) for o in self.outcomes if o.merged and o.merged.conflicts}
        return {**found, **(self.workflows.stages if self.workflows.conflicts else {})}

    @property
    def marked(self) -> frozenset[str]:
        """The paths with conflict markers in them."""
        return frozenset(
            o.path for o in self.outcomes if o.merged and o.merged.conflicts and b"<<<<<<<" in o.merged.final
        ) | frozenset(self.workflows.stages)

    @property
    def failed(self) -> bool:
        """A gating check found something that the port introduced."""
        return any(c.gating and c.result == "failed" for c in self.checks.values())


@dataclass(frozen=True)
class Port:
    """Everything that came of one change; `overdue` are the entries whose decision or overlay has run out."""

    changes: ChangeSet
    files: Files
    ledger: Ledger
    overdue: tuple[Entry, ...] = ()
    seconds: float = 0.0

    @property
    def outcomes(self) -> tuple[FileOutcome, ...]:
        return self.files.outcomes

    @property
    def workflows(self) -> Workflows:
        return self.files.workflows

    @property
    def checks(self) -> Mapping[str, Check]:
        return self.files.checks

    @property
    def mechanical(self) -> Edits:
        return self.files.mechanical

    @property
    def final(self) -> Edits:
        return self.files.final

    @property
    def unresolved(self) -> tuple[Unresolved, ...]:
        return self.files.unresolved

    @property
    def conflicts(self) -> tuple[tuple[str, str], ...]:
        return self.files.conflicts

    @property
    def absent(self) -> tuple[str, ...]:
        return self.files.absent

    @property
    def stages(self) -> dict[str, Stages]:
        return self.files.stages

    @property
    def status(self) -> str:
        """failed, conflicts, unresolved, present or clean; the worst that holds."""
        if self.files.failed and not self.conflicts:
            return "failed"
        if self.conflicts:
            return "conflicts"
        if self.unresolved or self.ledger.open or self.overdue:
            return "unresolved"
        return "present" if not self.final else "clean"


def _stages(outcome: FileOutcome) -> Stages:
    change = outcome.change
    base = Blob(outcome.before.data, change.before.mode) if outcome.before and change.before else None
    theirs = Blob(outcome.after.data, change.after.mode) if outcome.after and change.after else None
    return Stages(base, outcome.ours, theirs)


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
