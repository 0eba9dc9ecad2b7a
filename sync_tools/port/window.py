"""The port of a window at once, from values to values: each file is merged once, and each landing has its own ledger."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.ledger.account import ledger as make_ledger
from sync_tools.ledger.decide import settle
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.translated import Translated
from sync_tools.ledger.units import facts
from sync_tools.ledger.view import FileView, Passage
from sync_tools.outcome import FileOutcome
from sync_tools.policy import policy_of
from sync_tools.port.arrange import Progress, Unresolved
from sync_tools.port.ci import Workflows, port_template_file, workflow_files
from sync_tools.port.commits import reference
from sync_tools.port.file import Setting, port_file, translate_image
from sync_tools.port.pipeline import Job, port_files
from sync_tools.port.ported import Files, Port
from sync_tools.port.prepared import carried_images, translated_ahead
from sync_tools.tree import MemoryTree, Overlay
from sync_tools.upstream.changeset import ChangeSet, FileChange, Image
from sync_tools.upstream.course import Step, forward
from sync_tools.upstream.whole import Course, courses, vacated
from sync_tools.verify.model import Check


@dataclass(frozen=True)
class WindowPort:
    """What came of a window: of its files, and of each landing."""

    files: Files
    ports: tuple[Port, ...]


def port_window(changes: Sequence[ChangeSet], job: Job, progress: Progress = lambda _: None) -> WindowPort:
    """Port the change sets of a window, oldest first, onto `job.setting.tree`: base and tip are translated and merged at
    once. Raises SyncError for hostile or unusable input, and where two files' decisions would meet in one file."""
    progress("translating")
    setting = translated_ahead(carried_images(changes, job.setting.config), job.setting)
    config = setting.config
    found = _courses(changes, setting)
    _refuse_two_in_one_place(changes, found, setting)
    setting = replace(setting, left=frozenset(map(setting.translator.path, vacated(found))))
    through = [course for course in found if not course.passes]
    files = port_files(_whole(changes, through), replace(job, setting=setting), progress)
    progress("ledgers")
    passing = [course for course in found if course.passes]
    ends = (*files.outcomes, *(port_file(each.whole, replace(setting, tree=MemoryTree())) for each in passing))
    seen = _Seen(changes, (*through, *passing), ends, files, setting)
    ports = []
    for n, each in enumerate(changes):
        outcomes, passages, workflows = seen.landing(n)
        ledger = make_ledger(each, outcomes, config, ci=workflows.registrations, passages=passages)
        if job.resolutions:
            ledger = settle(ledger, job.resolutions.keys(), job.decided_by)
        ports.append(Port(each, seen.files(n, outcomes, workflows, ledger), ledger))
    return WindowPort(files, tuple(ports))


def steps(config: Config, changes: ChangeSet, change: FileChange) -> Step:
    """A change of a file as one step of its course."""
    return Step.of(reference(changes, config.upstream.repo), change, facts(change))


def _courses(changes: Sequence[ChangeSet], setting: Setting) -> list[Course]:
    config, place = setting.config, setting.translator.path

    def has(image: Image, left: frozenset[str]) -> bool:
        return image.path not in left and setting.tree.blob(place(image.path)) is not None

    return courses(changes, lambda c, f: steps(config, c, f), has)


def _refuse_two_in_one_place(changes: Sequence[ChangeSet], found: Sequence[Course], setting: Setting) -> None:
    """Raises SyncError where two files would have to be decided about in one place: where the window deletes a file that the
    fork edited and puts another one there, and where it adds a file and moves it to where the fork has one of its own."""
    place, vacant = setting.translator.path, vacated(found)
    taken = {course.whole.after.path for course in found if course.whole.after}
    for course in found:
        old, new = course.whole.before, course.whole.after
        if old and new is None and not course.born and old.path in taken and _is_edited(course.whole, setting):
            what, at, last = "deletes a file that the fork edited, and later puts another one there", old, -1
        elif course.born and new and (moved := _moved_to(course, new.path)) and new.path not in vacant:
            if setting.tree.blob(place(new.path)) is None:
                continue
            what, at, last = "adds a file and moves it to where the fork has one", new, moved - 1
        else:
            continue
        tip = changes[course.parts[last].landing].commit[:12]
        raise SyncError(f"the window {what}", place(at.path), f"port it as two windows, the first with --tip {tip}")


def _moved_to(course: Course, path: str) -> int:
    """The part that moved a file of the window's to where it stands at the end; 0 where it was added there."""
    before = (part.change.before for part in course.parts)
    return next((n for n, one in reversed(list(enumerate(before))) if one and one.path != path), 0)


def _is_edited(change: FileChange, setting: Setting) -> bool:
    """Whether the fork's file is to be merged and is not what upstream had before the change."""
    policy = policy_of(setting.config, change)
    ours = setting.tree.blob(setting.translator.path(change.before.path)) if change.before else None
    if ours is None or (policy and policy.action in ("skip", "owned")):
        return False
    theirs = translate_image(change.before, setting)
    return theirs is not None and theirs.data != ours.data


def _whole(changes: Sequence[ChangeSet], found: Sequence[Course]) -> ChangeSet:
    """The window as one change."""
    first, last = changes[0], changes[-1]
    files = tuple(course.whole for course in found)
    return replace(last, pr=None, parent=first.parent, subject="", body="", files=files, other_landings=())


class _Seen:
    """The landings of a window, seen from its end."""

    def __init__(
        self,
        changes: Sequence[ChangeSet],
        found: Sequence[Course],
        ends: Sequence[FileOutcome],
        files: Files,
        setting: Setting,
    ) -> None:
        self._changes, self._files, self._setting = changes, files, setting
        self._of = {(p.landing, p.file): (at, n) for at, course in enumerate(found) for n, p in enumerate(course.parts)}
        self._courses = found
        self._views = [FileView(outcome) for outcome in ends]
        self._images: dict[tuple[str, str, bytes], Translated] = {}
        self._template = setting.tree
        self._last = {path: n for n, each in enumerate(changes) for path in self._paths(n, each)}

    def _paths(self, n: int, each: ChangeSet) -> set[str]:
        """The paths of the fork that a landing is about, at the window's end."""
        return {self._view(n, i).outcome.path for i in range(len(each.files))}

    def _view(self, landing: int, file: int) -> FileView:
        return self._views[self._of[landing, file][0]]

    def landing(self, n: int) -> tuple[list[FileOutcome], list[Passage | None], Workflows]:
        """What became of a landing's files, each with its passage through the window; and of its rows of the matrix."""
        each, outcomes, passages, workflows = self._changes[n], [], [], Workflows()
        setting = replace(self._setting, tree=self._template)
        special = workflow_files(each, self._template, setting.config)
        for i, change in enumerate(each.files):
            at, place = self._of[n, i]
            outcome, passage = self._outcome(self._courses[at], place, self._views[at])
            if change.path in special and special[change.path].disposition == "merged":
                workflows = port_template_file(special[change.path], Workflows(), setting)
                told = workflows.outcomes[0]
                outcome = replace(outcome, unplaced=told.unplaced)
                self._template = Overlay(self._setting.tree, {told.path: told.final})
            outcomes.append(outcome)
            passages.append(passage)
        return outcomes, passages, workflows

    def _outcome(self, course: Course, n: int, whole: FileView) -> tuple[FileOutcome, Passage]:
        part, end, setting = course.parts[n], whole.outcome, self._setting
        change = part.change
        passage = Passage(whole, course.before(n), course.after(n))
        if n < course.begins or self._stays(course, n, end):
            alone = port_file(change, setting)
            mine = replace(passage, whole=FileView(alone)) if end.ours is None else passage
            final = alone.final if end.ours is None else end.final
            return replace(alone, final=final, mechanical=None), mine
        old_path = setting.translator.path(change.before.path) if change.kind == "renamed" and change.before else None
        outcome = replace(
            end, change=change, old_path=None if old_path == end.path else old_path, unplaced=(), merged=None
        )
        if end.disposition == "generated":
            return outcome, passage
        before, after = (self._translated(end.path, image) for image in (change.before, change.after))
        outcome = replace(
            outcome,
            disposition="merged",
            reason="",
            before=before.translation if before else None,
            after=after.translation if after else None,
        )
        return outcome, replace(passage, old=before, new=after)

    def _stays(self, course: Course, n: int, end: FileOutcome) -> bool:
        """The fork's file is none that the change was merged into: a policy keeps it, it is not there, or it was there
        before upstream added it."""
        change = course.parts[n].change
        policy = policy_of(self._setting.config, change)
        if policy and policy.action in ("skip", "owned"):
            return True
        if course.born:
            return end.ours is not None and n == course.begins
        return end.ours is None and end.disposition in ("absent", "present")

    def _translated(self, path: str, image: Image | None) -> Translated | None:
        if image is None:
            return None
        key = (path, image.path, image.data)
        if key not in self._images:
            self._images[key] = Translated(path, image, translate_image(image, self._setting))
        return self._images[key]

    def files(self, n: int, outcomes: Sequence[FileOutcome], workflows: Workflows, ledger: Ledger) -> Files:
        """What the window's port did, as far as it speaks of the files of a landing; the edits are those of the window."""
        whole = self._files
        paths = {o.path for o in outcomes} | {o.old_path for o in outcomes if o.old_path}
        rest = paths if n + 1 < len(self._changes) else paths | self._unclaimed()
        clashing = {e.downstream.path for e in ledger.entries if e.op == "conflict"}
        clashing |= {path for path, _ in whole.conflicts if self._last.get(path) == n}
        rest = rest - (whole.marked - clashing)  # what markers break is told by those whose conflict it is
        merged = {o.path: o.merged for o in whole.outcomes if o.path in clashing}
        return Files(
            tuple(replace(o, merged=merged.get(o.path)) for o in outcomes),
            replace(workflows, conflicts=()),
            {name: _within(check, rest) for name, check in whole.checks.items()},
            whole.mechanical,
            whole.final,
            tuple(self._unresolved(n)),
        )

    def _unclaimed(self) -> set[str]:
        """Where a check found something in files that no landing touches: the last one tells it."""
        return {f.path for c in self._files.checks.values() for f in c.findings} - self._last.keys()

    def _unresolved(self, n: int) -> Iterable[Unresolved]:
        """The sites that are left at the tip, of those that the landing wrote a line of."""
        for i, change in enumerate(self._changes[n].files):
            at, place = self._of[n, i]
            course, view = self._courses[at], self._views[at]
            found = [u for u in self._files.unresolved if u.path == view.outcome.path]
            if not found or place < course.begins:
                continue
            lines = {i for h in change.hunks for i in forward(h.new, course.after(place)).lines}
            images = view.new.images_of(sorted(lines))
            standing = {at + 1 for i in images for at in view.final.from_new.image(range(i, i + 1))}
            yield from (u for u in found if standing & {u.line, *u.lines})


def _within(check: Check, paths: set[str]) -> Check:
    """A check of the window, as far as it speaks of some paths."""
    findings = tuple(f for f in check.findings if f.path in paths)
    passed = check.result == "failed" and check.findings and all(f.origin != "introduced" for f in findings)
    return replace(check, findings=findings, result="passed" if passed else check.result)
