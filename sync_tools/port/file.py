"""One upstream file onto the fork: which case it is, and what the fork's file becomes. Pure but for what it is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sync_tools.config import Config, PathPolicy
from sync_tools.merge.compare import compare
from sync_tools.merge.file import merge_file
from sync_tools.merge.lines import split
from sync_tools.merge.result import Conflict, Merged
from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.outcome import FileOutcome
from sync_tools.paths import safe
from sync_tools.policy import policy_for, policy_of
from sync_tools.port.images import translation
from sync_tools.translate import Translator
from sync_tools.translate.result import Translation
from sync_tools.tree import Blob, Tree
from sync_tools.upstream.changeset import FileChange, Image


@dataclass(frozen=True)
class Setting:
    """What the port of a file looks at. `removed_by(path)` gives the fork's commit that removed a path and where the
    file went, if it was renamed; `brought` are paths that a person asked to have as upstream has them; `left` are those
    whose files the port moves or deletes, so that another one may come there; `known` are translations made ahead."""

    tree: Tree
    config: Config
    translator: Translator
    format: Callable[[str, bytes], bytes]
    removed_by: Callable[[str], tuple[str, str | None] | None]
    brought: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    known: Mapping[tuple[str, bytes], Translation] = field(default_factory=dict, repr=False)

    def ours(self, path: str, own: str | None = None) -> Blob | None:
        """The fork's file at a path, for a file of upstream's that stood at `own` before."""
        return None if path in self.left and path != own else self.tree.blob(path)

    def translation(self, path: str, data: bytes) -> Translation:
        """A file of upstream's as the fork would have it."""
        if (path, data) in self.known:
            return self.known[path, data]
        return translation(path, data, self.config, self.translator, self.format)


def port_file(change: FileChange, setting: Setting) -> FileOutcome:
    """The outcome of one file. Raises SyncError for a path that would leave the tree."""
    policy = policy_of(setting.config, change)
    outcome = _placed(change, policy, setting)
    if policy and policy.action == "skip":
        return replace(
            outcome, disposition="dropped", reason=policy.reason, final=outcome.ours, mechanical=outcome.ours
        )
    if policy and policy.action == "owned":
        return replace(outcome, disposition="owned", reason=policy.reason, final=outcome.ours, mechanical=outcome.ours)
    outcome = _translated(outcome, setting)
    match change.kind:
        case "added":
            return _added(outcome)
        case "deleted":
            return _deleted(outcome)
        case _ if outcome.ours is None:
            return _absent(outcome, setting)
        case _:
            return _modified(outcome)


def _placed(change: FileChange, policy: PathPolicy | None, setting: Setting) -> FileOutcome:
    """Where the file lives in the fork: at its translated path, where a policy puts it, or where the fork moved it."""

    def place(image: Image | None) -> str | None:
        if image is None:
            return None
        return policy.into if policy and policy.into else setting.translator.path(image.path)

    new, old = place(change.after), place(change.before)
    if policy and policy_for(setting.config, change.path) is None:
        new = old
    path = new or old or change.path
    for candidate in filter(None, (new, old)):
        safe(candidate, "upstream's change")
    ours = setting.ours(path, old)
    if ours is None and old and old != path:
        ours = setting.ours(old, old)
    elif old == path:
        old = None
    if ours is None and change.before is not None:
        removal = setting.removed_by(old or path)
        if removal and removal[1] and (moved := setting.tree.blob(removal[1])):
            return FileOutcome(change, removal[1], "merged", f"the fork moved it in {removal[0][:12]}", ours=moved)
    return FileOutcome(change, path, "merged", old_path=old, ours=ours)


def _translated(outcome: FileOutcome, setting: Setting) -> FileOutcome:
    before, after = (translate_image(i, setting) for i in (outcome.change.before, outcome.change.after))
    base = before.data if before else None
    return replace(outcome, before=before, after=after, edited=outcome.ours is not None and outcome.ours.data != base)


def translate_image(image: Image | None, setting: Setting) -> Translation | None:
    """A file of upstream's as the fork would have it: translated, and formatted as the fork formats."""
    if image is None:
        return None
    if image.mode == GITLINK:
        return Translation(image.data)
    if image.mode == SYMLINK:
        return Translation(
            setting.translator.path(image.data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        )
    return setting.translation(image.path, image.data)


def _added(outcome: FileOutcome) -> FileOutcome:
    assert outcome.after and outcome.change.after
    new = Blob(outcome.after.data, outcome.change.after.mode)
    if outcome.ours is None:
        return replace(outcome, mechanical=new, final=new)
    reason = "the same file" if outcome.ours.data == new.data else _difference(outcome, new)
    return replace(outcome, disposition="present", reason=reason, mechanical=outcome.ours, final=outcome.ours)


def _deleted(outcome: FileOutcome) -> FileOutcome:
    if outcome.ours is None:
        return replace(outcome, disposition="present", reason="the fork does not have it either")
    if not outcome.edited:
        return outcome
    base = split(outcome.before.data if outcome.before else b"")
    conflict = Conflict(outcome.path, (0, len(base)), (0, len(split(outcome.ours.data))), (0, 0))
    kept = Merged(outcome.ours.data, outcome.ours.data, (conflict,))
    return replace(
        outcome,
        merged=kept,
        mechanical=outcome.ours,
        final=outcome.ours,
        reason="upstream deletes what the fork edited",
    )


def _absent(outcome: FileOutcome, setting: Setting) -> FileOutcome:
    assert outcome.after and outcome.change.after
    if outcome.path in setting.brought or outcome.change.path in setting.brought:
        new = Blob(outcome.after.data, outcome.change.after.mode)
        return replace(outcome, final=new, reason="brought as upstream has it after the change")
    removal = setting.removed_by(outcome.old_path or outcome.path)
    reason = f"the fork removed it in {removal[0]}" if removal else "the fork never had it"
    return replace(
        outcome, disposition="absent", reason=f"{reason}; --bring {outcome.path} takes it as upstream has it"
    )


def _modified(outcome: FileOutcome) -> FileOutcome:
    change, ours, before, after = outcome.change, outcome.ours, outcome.before, outcome.after
    assert ours and before and after and change.before and change.after
    mode = change.after.mode if ours.mode == change.before.mode else ours.mode
    if ours.data == after.data and ours.mode == mode and before.data != after.data and outcome.old_path is None:
        return replace(outcome, disposition="present", reason="the same file", mechanical=ours, final=ours)
    merged = _whole(outcome) if _is_opaque(change) else merge_file(outcome.path, before.data, ours.data, after.data)
    return replace(outcome, merged=merged, mechanical=Blob(merged.mechanical, mode), final=Blob(merged.final, mode))


def _is_opaque(change: FileChange) -> bool:
    modes = {image.mode for image in (change.before, change.after) if image}
    return change.binary or bool(modes & {SYMLINK, GITLINK}) or change.kind == "type"


def _whole(outcome: FileOutcome) -> Merged:
    """The three-way merge of something without lines: one side's change wins over no change, two are a conflict."""
    ours, before, after = outcome.ours, outcome.before, outcome.after
    assert ours and before and after
    if ours.data == before.data:
        return Merged(after.data, after.data)
    if before.data == after.data or ours.data == after.data:
        return Merged(ours.data, ours.data)
    return Merged(ours.data, ours.data, (Conflict(outcome.path, (0, 0), (0, 0), (0, 0)),))


def _difference(outcome: FileOutcome, new: Blob) -> str:
    """How the fork's file differs from translated upstream's, by definition, in one line."""
    assert outcome.ours
    found: dict[str, list[str]] = {}
    for difference in compare(outcome.ours.data, new.data, outcome.path):
        found.setdefault(difference.state, []).append(difference.symbol)
    parts = [f"{state}: {', '.join(found[state])}" for state in ("differs", "missing", "extra") if state in found]
    return f"the fork has it, with differences ({'; '.join(parts)})" if parts else "the fork has it, laid out otherwise"
