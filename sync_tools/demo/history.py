"""A git history told as data: folders of plain files, and a `history.toml` that says what each commit does with them.

A commit's `folder` holds the files that it adds, whole; the patch of the same name holds its edits, as a reviewer would
see them. What a plain file in somebody's checkout can't be trusted to keep (modes, links, line endings, bytes that are
no text) stands in history.toml.
"""

import base64
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sync_tools.demo.patching import patched
from sync_tools.modes import EXECUTABLE, REGULAR, SYMLINK
from sync_tools.tree import Blob

State = Mapping[str, Blob]


@dataclass(frozen=True)
class Step:
    """One commit. `moves` goes from old to new path, before the edits; `undo` takes the step before back; `merge` lands
    the change on a side commit with this subject, so that only the commit that merges it carries the number."""

    subject: str
    author: str
    date: str
    folder: str = ""
    body: str = ""
    merge: str = ""
    undo: bool = False
    delete: tuple[str, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
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
    states: list[State] = [dict(start or {})]
    for step in steps(root):
        states.append(states[-2] if step.undo else _apply(states[-1], step, root))
    return [Commit(step, state) for step, state in zip(steps(root), states[1:], strict=True)]


def _files_of(root: Path, step: Step) -> dict[str, bytes]:
    """The plain files of a step, by path."""
    folder = root / step.folder
    if not step.folder:
        return {}
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if _is_content(p)}


def _apply(state: State, step: Step, root: Path) -> State:
    new = {step.moves.get(path, path): blob for path, blob in state.items() if path not in step.delete}
    patch = root / f"{step.folder}.patch"
    if patch.is_file():
        new = patched(new, patch.read_bytes())
    for path, data in _files_of(root, step).items():
        mode = new[path].mode if path in new else REGULAR
        new[path] = Blob(_as_told(data, path, step), mode)
    new |= {path: Blob(base64.b64decode(text)) for path, text in step.raw.items()}
    new |= {path: Blob(b"") for path in step.empty}
    new |= {path: Blob(target.encode(), SYMLINK) for path, target in step.links.items()}
    return new | {path: Blob(new[path].data, EXECUTABLE) for path in step.executable}


def _as_told(data: bytes, path: str, step: Step) -> bytes:
    if path in step.latin1:
        data = data.decode("utf-8").encode("latin-1")
    if path in step.crlf:
        data = data.replace(b"\n", b"\r\n")
    return data.rstrip(b"\r\n") if path in step.unterminated else data


def _is_content(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts
