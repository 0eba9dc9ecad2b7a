"""The test matrix of a workflow template: jobs with their options and rows, and the row lists that jobs share."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sync_tools.ci.literal import Block, Entry, LiteralError, Map, Name, Node, Scalar, Seq, Sum, names, set_blocks
from sync_tools.errors import SyncError

MAX_TEMPLATE = 1_000_000
MAX_ROWS = 5_000
TEST_FILE, TESTS = "test_file", "tests"

Option = tuple[str, str]
"""A name and its value as `repr` gives it (the source text, for what is no literal), so that True is not 1."""


@dataclass(frozen=True)
class Row:
    """One test of a job: its options in their order, `test_file` among them."""

    options: tuple[Option, ...]
    test_file: str = ""

    @property
    def key(self) -> frozenset[Option]:
        """What makes two rows equal: the options, whatever their order."""
        return frozenset(self.options)


@dataclass(frozen=True)
class Job:
    """`form` is how its rows are written: the name of a shared list, or `inline`, for each part of the sum."""

    name: str
    options: tuple[Option, ...]
    rows: tuple[Row, ...]
    form: tuple[str, ...]


@dataclass(frozen=True)
class SharedList:
    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Matrix:
    lists: tuple[SharedList, ...] = ()
    jobs: tuple[Job, ...] = ()

    def job(self, name: str) -> Job | None:
        return next((job for job in self.jobs if job.name == name), None)


@dataclass(frozen=True)
class RowNode:
    """A row and where it stands: the `at`-th item of the list `seq`."""

    row: Row
    node: Node
    seq: Seq
    at: int


@dataclass(frozen=True)
class JobNode:
    """`opaque`: some of the job's rows are computed, or stand in it twice, so that they cannot be edited one by one."""

    job: Job
    entry: Entry
    body: Map
    rows: tuple[RowNode, ...]
    opaque: bool


@dataclass(frozen=True)
class Template:
    """A template's text with its matrix; offsets of nodes are offsets into `text`."""

    text: str
    where: str
    blocks: tuple[Block, ...]
    jobs_block: Block | None

    @cached_property
    def named(self) -> dict[str, tuple[RowNode, ...]]:
        """The rows of each variable; a name stands for what an earlier block assigned."""
        named: dict[str, tuple[RowNode, ...]] = {}
        rows = 0
        for block in self.blocks:
            named[block.name] = self._rows(block.value, named)
            rows += len(named[block.name])
            self._limit(rows)
        return named

    @cached_property
    def lists(self) -> tuple[Block, ...]:
        """The blocks that hold rows: lists, and sums of lists, of dicts with a `test_file`; empty ones if a job names them."""
        used = set(names(self.jobs_block.value)) if self.jobs_block else set()
        return tuple(b for b in self.blocks if b is not self.jobs_block and self._is_row_list(b.value, b.name in used))

    @cached_property
    def jobs(self) -> tuple[JobNode, ...]:
        if self.jobs_block is None:
            return ()
        assert isinstance(self.jobs_block.value, Map)
        entries = self.jobs_block.value.items
        jobs = tuple(self._job(entry) for entry in entries if isinstance(entry.value, Map))
        self._limit(sum(len(job.rows) for job in jobs))
        return jobs

    @cached_property
    def matrix(self) -> Matrix:
        lists = (SharedList(b.name, tuple(r.row for r in self.named[b.name])) for b in self.lists)
        return Matrix(tuple(lists), tuple(node.job for node in self.jobs))

    def row(self, node: Node) -> Row:
        if not isinstance(node, Map):
            return Row((("", self.source(node)),))
        options = tuple((self.word(e.key), self.shown(e.value)) for e in node.items)
        named = next((e.value.value for e in node.items if self.word(e.key) == TEST_FILE and _is_text(e.value)), "")
        return Row(options, named)

    def shown(self, node: Node) -> str:
        return repr(node.value) if isinstance(node, Scalar) else self.source(node)

    def source(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def _rows(self, node: Node, named: dict[str, tuple[RowNode, ...]]) -> tuple[RowNode, ...]:
        """The rows of an expression; computed parts give none."""
        if isinstance(node, Seq):
            return tuple(RowNode(self.row(item), item, node, at) for at, item in enumerate(node.items))
        if isinstance(node, Sum):
            return tuple(row for part in node.parts for row in self._rows(part, named))
        return named.get(node.id, ()) if isinstance(node, Name) else ()

    def _limit(self, rows: int) -> None:
        if rows > MAX_ROWS:
            raise SyncError("the matrix is too big", self.where, f"keep it under {MAX_ROWS} rows")

    def _job(self, entry: Entry) -> JobNode:
        body = entry.value
        assert isinstance(body, Map)
        options = tuple((self.word(e.key), self.shown(e.value)) for e in body.items if self.word(e.key) != TESTS)
        tests = next((e.value for e in body.items if self.word(e.key) == TESTS), None)
        rows = self._rows(tests, self.named) if tests else ()
        form = tuple(self._form(tests)) if tests else ()
        job = Job(self.word(entry.key), options, tuple(r.row for r in rows), form)
        twice = len({(row.seq.start, row.at) for row in rows}) < len(rows)
        return JobNode(job, entry, body, rows, twice or "computed" in form)

    def _form(self, node: Node) -> Iterator[str]:
        if isinstance(node, Sum):
            for part in node.parts:
                yield from self._form(part)
        elif isinstance(node, Name):
            yield f"list {node.id}" if node.id in self.named else "computed"
        else:
            yield "inline" if isinstance(node, Seq) else "computed"

    def word(self, node: Node) -> str:
        return node.value if _is_text(node) else self.source(node)

    def _is_row_list(self, node: Node, used: bool) -> bool:
        parts = node.parts if isinstance(node, Sum) else (node,)
        rows = [item for part in parts if isinstance(part, Seq) for item in part.items]
        shaped = all(isinstance(part, (Seq, Name)) for part in parts)
        return shaped and (used or bool(rows)) and all(isinstance(r, Map) and self.row(r).test_file for r in rows)


def parse(text: str, where: str) -> Template:
    """The template with its matrix. Raises SyncError for a literal that ends nowhere or a template over the limit."""
    if len(text) > MAX_TEMPLATE:
        raise SyncError("the template is too big", where, f"keep it under {MAX_TEMPLATE} characters")
    try:
        blocks = set_blocks(text)
    except LiteralError as e:
        line = text.count("\n", 0, e.offset) + 1
        raise SyncError(f"the matrix cannot be read: {e.what}", f"{where}:{line}", "mend the literal") from e
    template = Template(text, where, blocks, next((b for b in reversed(blocks) if _is_jobs(b.value)), None))
    _ = template.matrix
    return template


def _is_jobs(node: Node) -> bool:
    """A dict of dicts, at least one of which has `tests`."""
    if not isinstance(node, Map) or not all(isinstance(e.value, Map) for e in node.items):
        return False
    return any(
        _is_text(inner.key) and inner.key.value == TESTS
        for e in node.items
        if isinstance(e.value, Map)
        for inner in e.value.items
    )


def _is_text(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, str)
