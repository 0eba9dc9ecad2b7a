"""A git history told as data: folders of plain files, and a `history.toml` that says what each commit does with them.

`folder` holds the files that a commit adds or changes, whole, as they read after it. What a plain file in somebody's
checkout can't be trusted to keep (modes, links, line endings, bytes that are no text) stands in history.toml instead.
"""

import base64
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sync_tools.tree import Blob
from sync_tools.upstream.changeset import EXECUTABLE, REGULAR, SYMLINK

State = Mapping[str, Blob]


@dataclass(frozen=True)
class Step:
    """One commit. `undo` names an earlier step whose paths go back to what they were before it; `merge` lands the
    change on a side commit with this subject and merges it, so that only the first-parent line carries the number."""

    subject: str
    author: str
    date: str
    folder: str = ""
    body: str = ""
    merge: str = ""
    undo: str = ""
    delete: tuple[str, ...] = ()
    executable: tuple[str, ...] = ()
    crlf: tuple[str, ...] = ()
    latin1: tuple[str, ...] = ()
    unterminated: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Commit:
    """A step and the whole tree after it."""

    step: Step
    state: State


def steps(root: Path) -> tuple[Step, ...]:
    """The steps of `root`/history.toml, oldest first."""
    told = tomllib.loads((root / "history.toml").read_text("utf-8"))
    return tuple(Step(**{k: tuple(v) if isinstance(v, list) else v for k, v in s.items()}) for s in told["step"])


def replay(root: Path, start: State | None = None) -> list[Commit]:
    """Every step of the history with the tree that it leaves, beginning from `start`."""
    commits: list[Commit] = []
    before: dict[str, State] = {}
    state: State = dict(start or {})
    for step in steps(root):
        before[step.folder] = state
        state = _apply(state, step, root, before[step.undo] if step.undo else None)
        commits.append(Commit(step, state))
    return commits


def files_of(root: Path, step: Step) -> dict[str, bytes]:
    """The plain files of a step, by path."""
    folder = root / step.folder
    if not step.folder:
        return {}
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if _is_content(p)}


def _apply(state: State, step: Step, root: Path, earlier: State | None) -> State:
    new = {path: blob for path, blob in state.items() if path not in step.delete}
    for path, data in files_of(root, step).items():
        mode = new[path].mode if path in new else REGULAR
        new[path] = Blob(_as_told(data, path, step), mode)
    new |= {path: Blob(base64.b64decode(text)) for path, text in step.raw.items()}
    new |= {path: Blob(b"") for path in step.empty}
    new |= {path: Blob(target.encode(), SYMLINK) for path, target in step.links.items()}
    new |= {path: Blob(new[path].data, EXECUTABLE) for path in step.executable}
    return new if earlier is None else _undone(new, step, root, earlier)


def _undone(state: State, step: Step, root: Path, earlier: State) -> State:
    """`state` with every path that the undone step touched as `earlier` had it."""
    undone = next(s for s in steps(root) if s.folder == step.undo)
    touched = {*files_of(root, undone), *undone.delete, *undone.raw, *undone.links, *undone.empty, *undone.executable}
    kept = {path: blob for path, blob in state.items() if path not in touched}
    return kept | {path: earlier[path] for path in touched if path in earlier}


def _as_told(data: bytes, path: str, step: Step) -> bytes:
    if path in step.latin1:
        data = data.decode("utf-8").encode("latin-1")
    if path in step.crlf:
        data = data.replace(b"\n", b"\r\n")
    return data.rstrip(b"\r\n") if path in step.unterminated else data


def _is_content(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts
