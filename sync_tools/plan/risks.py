"""What makes the port of a change more than routine: each mark is true of the change, and says of what."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from sync_tools.ledger.paths import executes
from sync_tools.ledger.rules import is_seam
from sync_tools.ledger.view import FileView
from sync_tools.outcome import FileOutcome
from sync_tools.plan.conflicts import causes
from sync_tools.plan.model import Briefing, Later, Prerequisite, Risk
from sync_tools.plural import counted
from sync_tools.port.arrange import Unresolved
from sync_tools.syntax import parse
from sync_tools.upstream.changeset import FileChange, Image

KINDS = (
    ("ci", re.compile(r"^\.github/|^ci_templates/|^\.ci/")),
    ("tests", re.compile(r"(^|/)tests?/|(^|/)test_[^/]*\.py$|_test\.py$|(^|/)conftest\.py$")),
    ("docs", re.compile(r"^docs/|\.(md|rst|txt)$")),
    ("install", re.compile(r"^docker/|(^|/)Dockerfile|(^|/)(setup\.(py|cfg)|pyproject\.toml|requirements[^/]*)$")),
    ("examples", re.compile(r"^(examples|scripts)/")),
    ("code", re.compile(r"\.(pyi?|sh|cpp|cu|c|h|hpp|proto)$")),
)
CODE = ("code", "examples")


def kind_of(path: str) -> str:
    """What a file is for: ci, tests, docs, install, examples, code, or other."""
    return next((kind for kind, pattern in KINDS if pattern.search(path)), "other")


def risks(outcomes: Sequence[FileOutcome], sites: Sequence[Unresolved], briefing: Briefing) -> Iterator[Risk]:
    """The marks of a change, from what a port would make of it and from what upstream did before and after."""
    changes = [outcome.change for outcome in outcomes]
    yield from reverted(briefing.later)
    yield from _conflicts(outcomes, briefing.prerequisites)
    for site in sites:
        yield Risk("unresolved", f"{site.path}:{site.line} {site.what}: {site.why}", (site.path,))
    yield from _engine(outcomes)
    yield from untested(changes)
    yield from ci_and_executed([c.path for c in changes])


def _conflicts(outcomes: Iterable[FileOutcome], prerequisites: Sequence[Prerequisite]) -> Iterator[Risk]:
    """What a port would stop at, and the change upstream whose lines are in question where the fork lacks it."""
    for outcome in outcomes:
        if outcome.merged and outcome.merged.conflicts:
            symbols = sorted({c.symbol for c in outcome.merged.conflicts} - {"", outcome.path})
            where = f" ({', '.join(symbols)})" if symbols else ""
            lacking = [_name(p.change.pr, p.change.commit) for p in causes(outcome, prerequisites)]
            cause = f"on lines of {', '.join(lacking)}" if lacking else "the fork has other lines there"
            yield Risk("conflict", f"{outcome.path}{where}: {cause}", (outcome.path,))


def reverted(later: Iterable[Later]) -> Iterator[Risk]:
    for each in later:
        if each.kind == "revert" and each.undone_by is None:
            yield Risk("reverted", f"upstream took it back in {_name(each.change.pr, each.change.commit)}")


def _name(pr: int | None, commit: str) -> str:
    return f"#{pr}" if pr is not None else commit[:12]


def _engine(outcomes: Iterable[FileOutcome]) -> Iterator[Risk]:
    """Rules of the seam that apply in changed lines."""
    found: dict[str, set[str]] = {}
    for outcome in outcomes:
        view = FileView(outcome)
        for hunk in outcome.change.hunks:
            for side, lines in ((view.old, hunk.old), (view.new, hunk.new)):
                for use in (use for n in lines for use in side.uses.get(n, ()) if is_seam(use.rule)):
                    found.setdefault(outcome.change.path, set()).add(use.rule)
    if found:
        rules = tuple(sorted(set().union(*found.values())))
        yield Risk(
            "engine", f"the engine's seam: {', '.join(rules)} in {told_paths(found)}", tuple(sorted(found)), rules
        )


def untested(changes: Sequence[FileChange]) -> Iterator[Risk]:
    """Behaviour that changes without a test that does."""
    if any(kind_of(c.path) == "tests" for c in changes):
        return
    paths = tuple(c.path for c in changes if kind_of(c.path) == "code" and behaves_otherwise(c))
    if paths:
        yield Risk("untested", f"behaviour changes and no test does: {told_paths(paths)}", paths)


def ci_and_executed(paths: Iterable[str]) -> Iterator[Risk]:
    """What CI or an installation runs."""
    run = [path for path in paths if executes(path)]
    matrix = tuple(path for path in paths if kind_of(path) == "ci")
    if matrix:
        yield Risk("ci", f"changes CI: {told_paths(matrix)}", matrix)
    rest = tuple(path for path in run if path not in matrix)
    if rest:
        yield Risk("executes", f"CI or an installation runs {told_paths(rest)}", rest)


def behaves_otherwise(change: FileChange) -> bool:
    """Whether more than comments, docstrings and layout of a file changes. What does not parse counts as changed."""
    if not change.path.endswith(".py") or not change.hunks:
        return bool(change.hunks) or change.kind == "deleted"
    before, after = _shape(change.before), _shape(change.after)
    return before is None or after is None or before != after


def _shape(image: Image | None) -> str | None:
    """A module's syntax without positions and docstrings; None where there is none to be had."""
    try:
        tree = parse(image.data if image else b"")
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]  # type: ignore[attr-defined]
    return ast.dump(tree)


def told_paths(paths: Iterable[str]) -> str:
    """The first paths, and how many more there are."""
    listed = sorted(paths)
    return ", ".join(listed[:3]) + (f" and {counted(len(listed) - 3, 'more file')}" if len(listed) > 3 else "")
