"""A person's edits of the matrix: a row added to a job, rows moved to another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sync_tools.ci.cells import Cell, Cells, fitted, split
from sync_tools.ci.jobs import home
from sync_tools.ci.matrix import TEST_FILE, JobNode, Row, RowNode, Template, parse
from sync_tools.ci.rows import without_rows
from sync_tools.ci.views import CellViews, Span, Views, splice, weave
from sync_tools.errors import SyncError

Option = str | int | float | bool


@dataclass(frozen=True)
class Edited:
    """`data` equals what went in where nothing was to do. `jobs` are all that the rows left or came to: more than one
    where a list is shared."""

    data: bytes
    rows: tuple[Row, ...]
    jobs: tuple[str, ...]
    origin: str = ""


def add_row(
    template: bytes, where: str, job: str, test_file: str, num_gpus: int, options: Mapping[str, Option] | None = None
) -> Edited:
    """The template with a row at the end of a job; unchanged where an equal one stands in it."""
    parsed = _parsed(template, where)
    target = _job(parsed, job, where)
    values: dict[str, Option] = {TEST_FILE: test_file, **(options or {}), "num_gpus": num_gpus}
    row = Row(tuple((name, repr(value)) for name, value in values.items()), test_file)
    if row.key in {known.key for known in target.job.rows}:
        return Edited(template, (), (job,))
    text = "{" + ", ".join(f"{name!r}: {value!r}" for name, value in values.items()) + "}"
    new = Cell("\n", _quoted_as(parsed, target, text))
    edits = _appended(parsed, target, [(new, _LOOSE)], where)
    return Edited(_applied(parsed, edits), (row,), _sharing(parsed, edits))


def move_rows(template: bytes, where: str, test_file: str, to: str, origin: str | None = None) -> Edited:
    """The template with a test's rows in another job. `origin` may be left out where one job alone has them. Rows of a
    shared list leave all the jobs that it serves. Where they stand in `to` already and not in `origin`, nothing moves."""
    parsed = _parsed(template, where)
    target = _job(parsed, to, where)
    standing = {node.job.name for node in parsed.jobs if test_file in {row.test_file for row in node.job.rows}}
    if origin is not None and origin not in standing and to in standing:
        return Edited(template, (), (to,), origin)
    source = _origin(parsed, test_file, to, origin, where)
    rows = [node for node in source.rows if node.row.test_file == test_file]
    edits = without_rows(parsed, rows)
    left = _sharing(parsed, edits)
    known = {row.key for row in target.job.rows}
    cells = [(_cell(parsed, node), _cells(parsed, node)) for node in rows if node.row.key not in known]
    edits |= _appended(parsed, target, cells, where)
    return Edited(_applied(parsed, edits), tuple(node.row for node in rows), (*left, to), source.job.name)


_LOOSE = Cells("[", (), "", "]", True)


def _parsed(template: bytes, where: str) -> Template:
    parsed = parse(template.decode("utf-8", "surrogateescape"), where)
    if not parsed.jobs_block:
        raise SyncError("no matrix in the template", where, "give it a set block with a dict of jobs that have tests")
    return parsed


def _job(template: Template, name: str, where: str) -> JobNode:
    for node in template.jobs:
        if node.job.name == name:
            if node.opaque:
                raise SyncError(f"the rows of {name} are computed", where, "edit the template by hand")
            return node
    raise SyncError(f"no job {name!r}", where, f"name one of {', '.join(n.job.name for n in template.jobs)}")


def _origin(template: Template, test_file: str, to: str, origin: str | None, where: str) -> JobNode:
    having = [
        node for node in template.jobs if node.job.name != to and test_file in {row.test_file for row in node.job.rows}
    ]
    if origin is not None:
        having = [node for node in having if node.job.name == origin]
    if not having:
        raise SyncError(
            f"no row for {test_file!r}" + (f" in {origin}" if origin else ""), where, "see `vime-sync ci check`"
        )
    if len(having) > 1:
        raise SyncError(
            f"{test_file!r} stands in {', '.join(n.job.name for n in having)}", where, "name the job with --from"
        )
    return _job(template, having[0].job.name, where)


def _appended(template: Template, job: JobNode, new: Sequence[tuple[Cell, Cells]], where: str) -> dict[Span, Views]:
    seq = home(template, job)
    if seq is None:
        raise SyncError(f"{job.job.name} has no list of tests", where, "give it 'tests': []")
    cells = split(template.text, seq)
    newline = "\r\n" if "\r\n" in template.text else "\n"
    fit = (CellViews.same(fitted(cell, source, cells, newline)) for cell, source in new)
    return {(seq.start, seq.end): weave(cells, [*map(CellViews.same, cells.cells), *fit])}


def _cell(template: Template, node: RowNode) -> Cell:
    return _cells(template, node).cells[node.at]


def _cells(template: Template, node: RowNode) -> Cells:
    return split(template.text, node.seq)


def _quoted_as(template: Template, job: JobNode, text: str) -> str:
    """With the quotes that the job's rows have."""
    rows = [template.source(node.node) for node in job.rows]
    return text.replace("'", '"') if rows and "'" not in rows[0] and '"' not in text else text


def _sharing(template: Template, edits: Mapping[Span, Views]) -> tuple[str, ...]:
    """The jobs whose rows stand in an edited list."""
    return tuple(
        node.job.name for node in template.jobs if any((row.seq.start, row.seq.end) in edits for row in node.rows)
    )


def _applied(template: Template, edits: Mapping[Span, Views]) -> bytes:
    return splice(template.text, (0, len(template.text)), edits).ours.encode("utf-8", "surrogateescape")
