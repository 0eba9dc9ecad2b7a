"""The port of one change set, from values to values: files, CI, checks, ledger. It writes nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sync_tools.config import Config
from sync_tools.ledger.account import ledger as make_ledger
from sync_tools.ledger.decide import settle
from sync_tools.outcome import FileOutcome
from sync_tools.port.arrange import Progress, arrange, formatted_ahead, unresolved_sites
from sync_tools.port.cicheck import check_workflows
from sync_tools.port.edits import Edits, final_edits, mechanical_edits, without_noops
from sync_tools.port.file import Setting
from sync_tools.port.ported import Files, Port, Unresolved
from sync_tools.port.siblings import needed
from sync_tools.port.style import has_seam, seam_files
from sync_tools.port.theirs import TranslatedTree
from sync_tools.tree import Blob, Overlay, Tree
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.verify.model import Context, packages_of
from sync_tools.verify.run import run as verify
from sync_tools.verify.source import Sources


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


def _is_brought(outcome: FileOutcome, setting: Setting) -> bool:
    return outcome.ours is None and bool({outcome.path, outcome.change.path} & setting.brought)


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
