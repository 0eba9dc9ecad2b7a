"""Whether a tree's CI runs what it should: the workflow is current and valid, and every test is registered."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from sync_tools.ci import coverage
from sync_tools.ci.matrix import TEST_FILE
from sync_tools.ci.paths import locate
from sync_tools.ci.render import workflow
from sync_tools.ci.workflow import WorkflowError, WorkflowJob, jobs, load, schema_errors
from sync_tools.config import CI
from sync_tools.errors import SyncError
from sync_tools.tree import Tree

Kind = Literal["template", "stale", "invalid", "unregistered", "repeated", "missing"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Problem:
    """`path` is the file that is at fault or unregistered, `job` the job that names it. `kind`, `path` and `job` make
    two problems the same, so that one is known again in another tree."""

    kind: Kind
    path: str
    what: str
    job: str = ""

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.kind, self.path, self.job


@dataclass(frozen=True)
class CICheck:
    """`current`: the committed workflow is what the template renders to. `inherited` problems were there before."""

    current: bool
    problems: tuple[Problem, ...] = ()
    inherited: tuple[Problem, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "current": self.current,
            "problems": [asdict(problem) for problem in self.problems],
            "inherited": [asdict(problem) for problem in self.inherited],
        }


def check(tree: Tree, ci: CI, base: Tree | None = None, debt: Iterable[tuple[str, str, str]] = ()) -> CICheck:
    """The problems of a tree's CI. Those that `base` (the tree before, or upstream's translated) has too, and those
    whose identity is in `debt`, are inherited."""
    problems = tuple(_problems(tree, ci))
    kinds = {problem.kind for problem in problems}
    known = {problem.identity for problem in _problems(base, ci, kinds)} if base is not None and problems else set()
    known |= set(debt)
    return CICheck(
        current=not any(problem.kind in ("stale", "template") for problem in problems),
        problems=tuple(problem for problem in problems if problem.identity not in known),
        inherited=tuple(problem for problem in problems if problem.identity in known),
    )


def _problems(tree: Tree, ci: CI, kinds: Collection[Kind] = KINDS) -> Iterator[Problem]:
    """The problems of the kinds asked for; rendering and the schema are the costly ones."""
    paths = tree.paths()
    found = locate(paths, ci)
    data = _data(tree, found.workflow)
    template = _data(tree, found.template) if found.template else None
    if template is not None and found.template and {"stale", "template"} & set(kinds):
        try:
            rendered = workflow(template, found.template, data, ci.banner)
        except SyncError as e:
            yield Problem("template", found.template, f"{e.what}: {e.fix}")
        else:
            if rendered != data:
                yield Problem(
                    "stale", found.workflow, f"not what {found.template} renders to: run `vime-sync ci render`"
                )
            data = rendered
    jobs_found: tuple[WorkflowJob, ...] = ()
    if data is not None:
        try:
            jobs_found = jobs(load(data))
        except WorkflowError as e:
            yield Problem("invalid", found.workflow, str(e))
        else:
            errors = schema_errors(data) if "invalid" in kinds else ()
            yield from (Problem("invalid", found.workflow, error) for error in errors)
    yield from _rows(jobs_found, paths, ci)
    yield from _unregistered(jobs_found, paths, ci)


def _data(tree: Tree, path: str) -> bytes | None:
    blob = tree.blob(path)
    return blob.data if blob else None


def _rows(found: Iterable[WorkflowJob], paths: Collection[str], ci: CI) -> Iterator[Problem]:
    """Rows that stand twice in a job, and rows that name nothing in the tree."""
    for job in found:
        counts = Counter(tuple(sorted((k, repr(v)) for k, v in row.items())) for row in job.rows)
        for row, count in counts.items():
            if count > 1:
                name = dict(row).get(TEST_FILE, repr("")).strip("'\"")
                yield Problem("repeated", name, f"{count} equal rows in one job", job.name)
        for name in dict.fromkeys(name for row in job.rows for name in coverage.names(row.get(TEST_FILE))):
            if not coverage.matched(name, paths, ci.tests):
                yield Problem("missing", name, "registered, and not in the tree", job.name)


def _unregistered(found: Collection[WorkflowJob], paths: Collection[str], ci: CI) -> Iterator[Problem]:
    tests = [path for path in paths if coverage.glob_matches(f"{ci.tests}/**/test_*.py", path)]
    run = coverage.covered(found, tests, ci.tests)
    for path in sorted(set(tests) - run):
        if not any(coverage.glob_matches(exempt.match, path) for exempt in ci.exempt):
            yield Problem(
                "unregistered", path, "no job runs it: add a row (`vime-sync ci add`) or exempt it with a reason"
            )
