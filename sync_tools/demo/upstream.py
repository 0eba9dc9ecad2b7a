"""The miniature upstream: a slime in small, with the history that ports are shown on, all of it written for this project."""

from pathlib import Path

from sync_tools.demo.gitwriter import write
from sync_tools.demo.history import Commit, replay
from sync_tools.demo.workflow import with_workflow

FILES = Path(__file__).parent / "files"
UPSTREAM = FILES / "upstream"
TEMPLATE = ".github/workflows/pr-test.yml.j2"
WORKFLOW = ".github/workflows/pr-test.yml"


def build_upstream(to: Path) -> Path:
    """Writes the repository at `to` and returns it. Subjects end in (#N); hashes are the same on every machine."""
    return write(upstream_commits(), to)


def upstream_commits() -> list[Commit]:
    """The history as trees, oldest first, the workflow of each rendered from its template."""
    return [Commit(c.step, with_workflow(c.state, TEMPLATE, WORKFLOW)) for c in replay(UPSTREAM)]
