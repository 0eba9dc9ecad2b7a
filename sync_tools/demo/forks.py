"""Two forks of the miniature upstream: one that `sync import` makes, one that people wrote by hand before there was `sync`."""

from collections.abc import Callable
from pathlib import Path

from sync_tools.demo.gitwriter import git, write
from sync_tools.demo.history import Commit, State, replay
from sync_tools.demo.upstream import FILES, upstream_commits
from sync_tools.demo.workflow import with_workflow
from sync_tools.tree import Blob

FORK = FILES / "fork"
TEMPLATE = "ci_templates/pr-test.yml.j2"
WORKFLOW = ".github/workflows/pr-test.yml"

Import = Callable[[Path, str, Path], object]

# In this order: what is to stay the same is put aside first and comes back last.
SPELLINGS = (
    ("THUDM/slime", "\0"),
    ("SGLangEngine", "VLLMEngine"),
    ("SGLang", "vLLM"),
    ("SGLANG", "VLLM"),
    ("sglang", "vllm"),
    ("SLIME", "VIME"),
    ("slime", "vime"),
    ("\0", "THUDM/slime"),
)


def build_imported_fork(upstream: Path, to: Path, importer: Import, at: str | None = None) -> Path:
    """The fork that an import of `upstream` at the parent of #1861 (or at `at`) gives.

    `importer(upstream, revision, to)` does the work and leaves a git repository at `to`.
    """
    importer(upstream, at or parent_of(upstream, 1861), to)
    return to


def build_handwritten_fork(to: Path) -> Path:
    """Writes the hand-written fork at `to` and returns it; the hashes are the same on every machine."""
    return write(handwritten_commits(), to)


def handwritten_commits() -> list[Commit]:
    """The fork's history as trees: upstream before #1861 with its words replaced, then what people did to it."""
    start = _renamed(upstream_commits()[0].state)
    return [Commit(c.step, with_workflow(c.state, TEMPLATE, WORKFLOW)) for c in replay(FORK, start)]


def parent_of(upstream: Path, number: int) -> str:
    """The full hash of the first parent of the commit that landed pull request `number`."""
    log = git(upstream, "log", "--first-parent", "--format=%P %s", "main").decode()
    line = next(line for line in log.splitlines() if line.endswith(f"(#{number})"))
    return line.split()[0]


def _renamed(state: State) -> dict[str, Blob]:
    return {respelled(path): _respelled_blob(blob) for path, blob in state.items()}


def _respelled_blob(blob: Blob) -> Blob:
    try:
        return Blob(respelled(blob.data.decode("utf-8")).encode("utf-8"), blob.mode)
    except UnicodeDecodeError:
        return blob


def respelled(text: str) -> str:
    """The fork's words for upstream's, by plain replacement, as a person would do it before there is `sync`."""
    for old, new in SPELLINGS:
        text = text.replace(old, new)
    return text
