"""Upstream's change to the workflow template, made to the fork's template.

The matrix is merged by meaning: rows, options and jobs, whatever the fork's own rows, order and formatting are. Everything
else of the template is merged as text. Where ours is what upstream had, the result is what upstream has now.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sync_tools.ci.blocks import merged_blocks, one_sided, with_blocks
from sync_tools.ci.delta import MatrixDelta, RowChange
from sync_tools.ci.jobs import merge_matrices
from sync_tools.ci.matrix import Template, parse
from sync_tools.ci.report import report
from sync_tools.ci.rows import Rename
from sync_tools.ci.writing import edits
from sync_tools.config import Place
from sync_tools.errors import SyncError
from sync_tools.merge.result import Conflict, Merged

Merge = Callable[[str, bytes, bytes, bytes], Merged]


@dataclass(frozen=True)
class Settled:
    """Three texts that differ in what is left to decide: the template outside its matrix, and conflicts within it."""

    base: str
    ours: str
    theirs: str
    delta: MatrixDelta


@dataclass(frozen=True)
class TemplatePort:
    """`data` is the fork's template after the change, with conflict markers where `conflicts` says so (it cannot be
    rendered then); None where upstream deleted the template and the fork had it as upstream did. `diverged` are the
    places that a changed row went to."""

    data: bytes | None
    delta: MatrixDelta = field(default_factory=MatrixDelta)
    conflicts: tuple[Conflict, ...] = ()
    diverged: tuple[Place, ...] = ()

    @property
    def added(self) -> tuple[RowChange, ...]:
        return self.delta.added

    @property
    def removed(self) -> tuple[RowChange, ...]:
        return self.delta.removed

    @property
    def changed(self) -> tuple[RowChange, ...]:
        return self.delta.changed

    @property
    def moved(self) -> tuple[RowChange, ...]:
        return self.delta.moved

    @property
    def missing_jobs(self) -> tuple[str, ...]:
        return self.delta.missing_jobs


def port_template(
    before: bytes | None,
    after: bytes | None,
    ours: bytes,
    *,
    rename: Rename,
    translate: Callable[[bytes], bytes],
    merge: Merge,
    places: Sequence[Place] = (),
    path: str = "pr-test.yml.j2",
) -> TemplatePort:
    """Upstream's change `before` -> `after` made to `ours`. `translate` rewrites a whole template, `rename` one name.

    A template that upstream adds while the fork has one is compared with nothing: ours stays. Bytes that are no UTF-8
    and templates without a readable matrix come through, merged as text.
    """
    if before is None:
        return TemplatePort(ours)
    base = translate(before)
    if after is None:
        whole = Conflict(path, (0, _lines(base)), (0, _lines(ours)), (0, 0))
        return TemplatePort(None) if ours == base else TemplatePort(ours, conflicts=(whole,))
    theirs = translate(after)
    sides = [_template(data, path) for data in (base, ours, theirs)]
    templates = [side for side in sides if side is not None]
    if len(templates) < len(sides):
        merged = merge(path, base, ours, theirs)
        return TemplatePort(merged.final, conflicts=merged.conflicts)
    ported = _ported(settle(*templates, rename, places), templates, merge, path)
    ported = replace(ported, diverged=_diverged(ported.delta, places, rename))
    return replace(ported, data=theirs) if ours == base and not places else ported


def _diverged(delta: MatrixDelta, places: Sequence[Place], rename: Rename) -> tuple[Place, ...]:
    touched = {
        (rename(change.job), rename(change.test_file))
        for change in delta.added + delta.removed + delta.changed + delta.moved
    }
    return tuple(place for place in places if (rename(place.to), rename(place.test_file)) in touched)


def compare(before: Template, after: Template, rename: Rename = str) -> MatrixDelta:
    """What a change of the template did to its matrix."""
    return report(merge_matrices(before, before, after, rename, ()))


def settle(
    before: Template, ours: Template, after: Template, rename: Rename = str, places: Sequence[Place] = ()
) -> Settled:
    """The matrix merged by meaning, in the three texts that are left to be merged as text."""
    matrix = merge_matrices(before, ours, after, rename, places)
    blocks = merged_blocks(before, ours, matrix.new, edits(matrix, ours))
    alone = one_sided(before, after)
    return Settled(
        base=with_blocks(before, {name: views.base for name, views in blocks.items()}, alone),
        ours=with_blocks(ours, {name: views.ours for name, views in blocks.items()}),
        theirs=with_blocks(after, {name: views.theirs for name, views in blocks.items()}, alone),
        delta=report(matrix),
    )


def _ported(settled: Settled, real: Sequence[Template], merge: Merge, path: str) -> TemplatePort:
    if settled.base == settled.theirs:
        return TemplatePort(_bytes(settled.ours), settled.delta)
    texts = (settled.base, settled.ours, settled.theirs)
    merged = merge(path, *map(_bytes, texts))
    conflicts = tuple(_as_in(conflict, texts, real) for conflict in merged.conflicts)
    return TemplatePort(merged.final, settled.delta, conflicts)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _template(data: bytes, path: str) -> Template | None:
    try:
        template = parse(data.decode("utf-8", "surrogateescape"), path)
    except SyncError:
        return None
    return template if template.jobs_block else None


def _as_in(conflict: Conflict, merged: Sequence[str], real: Sequence[Template]) -> Conflict:
    """The conflict with ranges of the files as they are, not of those in which the matrix was settled already."""
    ranges = (conflict.base, conflict.ours, conflict.theirs)
    return Conflict(conflict.symbol, *(_moved(*side) for side in zip(ranges, merged, real, strict=True)))


def _moved(lines: tuple[int, int], merged: str, real: Template) -> tuple[int, int]:
    """Around the matrix the two texts are the same; within it a line is found by what it says."""
    old, new = merged.splitlines(), real.text.splitlines()
    head = _alike(old, new)
    tail = min(_alike(old[::-1], new[::-1]), len(old) - head, len(new) - head)

    def at(line: int) -> int:
        if line <= head or line >= len(old) - tail:
            return line if line <= head else line + len(new) - len(old)
        inside = new[head : len(new) - tail]
        return head + (inside.index(old[line]) if old[line] in inside else min(line - head, len(inside)))

    start, end = lines
    return at(start), at(end - 1) + 1 if end > start else at(start)


def _alike(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines are the same at the start."""
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _lines(data: bytes) -> int:
    return len(data.splitlines())
