"""The CI check of a port."""

from collections.abc import Collection

from sync_tools.ci.check import Problem, check
from sync_tools.ci.paths import locate
from sync_tools.config import Config
from sync_tools.tree import Tree
from sync_tools.verify.model import Check, Finding, Origin

DEBT = ("unregistered", "repeated", "missing")


def check_workflows(base: Tree, after: Tree, theirs: Tree | None, edits: Collection[str], config: Config) -> Check:
    """The CI check of a port: asked where it touches the matrix or a test. What the fork had wrong before is inherited,
    and so is what translated upstream (`theirs`) has: a test that it registers nowhere itself."""
    paths = locate(after.paths(), config.ci)
    tests = f"{config.ci.tests}/"
    if not any(p in (paths.template, paths.workflow) or p.startswith(tests) for p in edits):
        return Check("ci", "passed", reason="the port touches neither the matrix nor a test")
    if paths.template is None:
        return Check("ci", "not run", reason="the fork has no workflow template")
    found = check(after, config.ci, base)
    debt: set[tuple[str, str, str]] = set()
    if found.problems and theirs is not None:
        debt = {p.identity for p in check(theirs, config.ci).problems if p.kind in DEBT}
    findings = [_finding(p, "inherited" if p.identity in debt else "introduced") for p in found.problems]
    failed = any(f.origin == "introduced" for f in findings)
    findings += [_finding(p, "inherited") for p in found.inherited]
    return Check("ci", "failed" if failed else "passed", tuple(findings))


def _finding(problem: Problem, origin: Origin) -> Finding:
    job = f" (job {problem.job})" if problem.job else ""
    return Finding(
        problem.path, 1, f"ci.{problem.kind}", problem.what + job, "vime-sync ci add, or ci.exempt in sync.toml", origin
    )
