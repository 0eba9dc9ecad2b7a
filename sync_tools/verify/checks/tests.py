"""The tests that a port touches: changed test files, and tests that import touched modules.

They are listed with their commands, and run only when asked: from a copy of the tree, in the sandbox, one process a file.
"""

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.tree import Tree
from sync_tools.verify.corpus import Corpus
from sync_tools.verify.model import Check, Context, Finding
from sync_tools.verify.removed import dotted
from sync_tools.verify.sandbox import Isolation, Outcome, run_isolated
from sync_tools.verify.source import Source

NAME, GATING = "tests", True
LIMIT = 300.0
# What pytest's exit code says; 5: nothing was collected.
PASSED, EMPTY = 0, 5
SAYS: dict[Isolation, str] = {
    "namespace": "in a network namespace of its own",
    "python": "other hosts refused to Python code only, for want of a network namespace",
}


def tests(context: Context) -> Check:
    """What was asked of the tests and what they answered, by file."""
    wanted = [source for path in touched_tests(context) if (source := context.code.source(path))]
    if not wanted:
        return Check(NAME, "passed", gating=GATING, reason="the port touches no test")
    if not context.run_tests:
        listed = tuple(_listed(source, needs_gpus(source)) for source in wanted)
        return Check(NAME, "not run", listed, GATING, "--run-tests")
    return _run_all(context, wanted)


def touched_tests(context: Context) -> list[str]:
    """Changed test files, and those that name a touched module of ours, sorted."""
    folder = context.config.ci.tests.rstrip("/") + "/"
    known = [p for p in context.code.paths if _is_test(p) and p.startswith(folder)]
    found = {p for p in known if p in context.touched}
    corpus = Corpus([source for p in sorted(known) if (source := context.code.source(p))])
    for path in context.touched:
        module = dotted(path)
        if path.endswith(".py") and context.code.is_ours(module) and "." in module:
            parent, _, name = module.rpartition(".")
            names = re.compile(rf"\b{re.escape(module)}\b|from {re.escape(parent)} import [^#\n]*\b{re.escape(name)}\b")
            found |= {source.path for source in corpus.holding(os.fsencode(name)) if names.search(source.text)}
    return sorted(found)


def command_of(path: str) -> list[str]:
    return ["python", "-m", "pytest", "-q", path]


def needs_gpus(source: Source) -> int:
    """The number that a test states as `NUM_GPUS`; 0 when it states none."""
    stated = re.search(r"^NUM_GPUS\s*=\s*(\d+)", source.text, re.MULTILINE)
    return int(stated[1]) if stated else 0


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") and name.endswith(".py")


def _listed(source: Source, gpus: int) -> Finding:
    waits = f" (waits for {gpus} GPUs)" if gpus else ""
    return Finding(source.path, 1, "tests.not-run", shlex.join(command_of(source.path)) + waits, "")


def _run_all(context: Context, wanted: list[Source]) -> Check:
    findings: list[Finding] = []
    passed: list[str] = []
    says = ""
    with tempfile.TemporaryDirectory(prefix="sync-tests-") as scratch:
        root = Path(scratch) / "tree"
        write_tree(context.tree, root)
        for source in wanted:
            if gpus := needs_gpus(source):
                findings.append(_listed(source, gpus))
                continue
            command = [sys.executable, *command_of(source.path)[1:]]
            outcome = run_isolated(command, root, Path(scratch), LIMIT)
            says = SAYS[outcome.isolation]
            if outcome.code == PASSED:
                passed.append(source.path)
            else:
                findings.append(_failed(source.path, outcome))
    failed = any(f.rule == "tests.failed" for f in findings)
    result = "failed" if failed else "passed" if passed else "not run"
    reason = f"passed: {', '.join(passed)}; {says}" if passed else says or "every touched test waits for GPUs"
    return Check(NAME, result, tuple(findings), GATING, reason)


def _failed(path: str, outcome: Outcome) -> Finding:
    if outcome.code is None:
        said = f"did not end within {LIMIT:.0f} s"
    elif outcome.code == EMPTY:
        said = "nothing was collected"
    else:
        last = [line for line in outcome.output.splitlines() if line.strip()][-1:] or [""]
        said = f"exit code {outcome.code}: {last[0].strip()[:200]}"
    rule = "tests.empty" if outcome.code == EMPTY else "tests.failed"
    return Finding(path, 1, rule, said, shlex.join(command_of(path)))


def write_tree(tree: Tree, root: Path) -> None:
    """The regular files of a tree on disk, below `root` and nowhere else: links are left out."""
    for path, data, mode in _regular(tree):
        place = root / path
        if ".." in PurePosixPath(path).parts or PurePosixPath(path).is_absolute():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(0o755 if mode == EXECUTABLE else 0o644)


def _regular(tree: Tree) -> Iterator[tuple[str, bytes, int]]:
    for path in sorted(tree.paths()):
        blob = tree.blob(path)
        if blob is not None and blob.mode in (REGULAR, EXECUTABLE):
            yield path, blob.data, blob.mode
