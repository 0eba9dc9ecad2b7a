"""What becomes of each file of a change, and of the matrix, before anything is checked: what a plan needs of a port too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sync_tools.formatters import format_all
from sync_tools.ledger.view import FileView
from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.outcome import FileOutcome
from sync_tools.port.ci import Workflows, port_workflows, workflow_files
from sync_tools.port.file import Setting, port_file
from sync_tools.upstream.changeset import ChangeSet

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Unresolved:
    """A site that was not translated, at its line in the fork's file after the port; `lines` are its statement's."""

    path: str
    line: int
    what: str
    why: str
    lines: range = range(0)


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


def formatted_ahead(changes: ChangeSet, setting: Setting) -> Setting:
    """The setting with a formatter that has seen the change's images: a process a formatter, not one a file."""
    formatters, translator = setting.config.formatting, setting.translator
    images = [i for c in changes.files for i in (c.before, c.after) if i and i.mode in (REGULAR, EXECUTABLE)]
    items = [(translator.path(i.path), translator.file(i.path, i.data).data) for i in images if formatters]
    known = dict(zip(items, format_all(items, formatters), strict=True))

    def formatted(path: str, data: bytes) -> bytes:
        return known[path, data] if (path, data) in known else setting.format(path, data)

    return replace(setting, format=formatted)


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
