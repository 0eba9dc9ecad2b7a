"""Histories of upstream drawn at random, and a window of them ported at once and one by one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import strategies as st

from sync_tools.config import Config
from sync_tools.demo.gitwriter import write
from sync_tools.demo.history import Commit, Step
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree
from sync_tools.ledger import store
from sync_tools.ledger.model import Ledger
from sync_tools.port.fork import Fork
from sync_tools.port.request import Request
from sync_tools.port.session import Places, Session, start
from sync_tools.port.window_session import start_window
from sync_tools.tree import Blob
from sync_tools.upstream.window import window

PLACES = ("slime/a.py", "slime/b.py", "slime/deep/c.py", "docs/d.md")
FIRST: Mapping[str, tuple[int, ...]] = {"slime/a.py": (1, 2, 3, 4, 5, 6), "docs/d.md": (7, 8, 9)}
Files = dict[str, tuple[int, ...]]


def text(path: str, numbers: Sequence[int]) -> bytes:
    """A file whose lines are told by numbers: no two alike."""
    if path.endswith(".md"):
        return b"".join(b"Line %d of slime.\n" % n for n in numbers)
    return b"".join(b"\n\ndef f%d(args):\n    return args.slime_%d\n" % (n, n) for n in numbers)


@st.composite
def histories(draw: st.DrawFn) -> list[Files]:
    """States of upstream, the first one fixed: files are edited, moved, deleted, added and added again."""
    states, fresh = [dict(FIRST)], 100
    for _ in range(draw(st.integers(2, 5))):
        files = dict(states[-1])
        for _ in range(draw(st.integers(1, 2))):
            free = [p for p in PLACES if p not in files]
            what = draw(st.sampled_from(["edit", "edit", "edit", "move", "delete", "add"]))
            if what == "add" or not files:
                if free:
                    files[draw(st.sampled_from(free))] = tuple(range(fresh, fresh + draw(st.integers(1, 3))))
                    fresh += 3
                continue
            path = draw(st.sampled_from(sorted(files)))
            if what == "edit":
                lines = list(files[path])
                at = draw(st.integers(0, len(lines)))
                gone = draw(st.integers(0, 2))
                lines[at : at + gone] = range(fresh, fresh + draw(st.integers(0 if gone else 1, 2)))
                fresh += 2
                files[path] = tuple(lines) or (fresh,)
                fresh += 1
            elif what == "delete":
                del files[path]
            elif free and (target := draw(st.sampled_from(free))).rpartition(".")[2] == path.rpartition(".")[2]:
                files[target] = files.pop(path)
        if files != states[-1]:
            states.append(files)
    return states


def upstream_of(states: Sequence[Files], to: Path, numbers: Mapping[int, int | None] | None = None) -> Path:
    """A repository with a commit for each state; the first one is no pull request's. `numbers`: of some commits the pull
    request, or that it has none."""
    commits, numbered = [], {n: 100 + n for n in range(1, len(states))} | dict(numbers or {})
    for n, files in enumerate(states):
        number = numbered.get(n)
        subject = f"Change {n} (#{number})" if number else f"Change {n}"
        step = Step(subject, "Ada <ada@example.org>", f"{1_700_000_000 + n} +0000")
        commits.append(Commit(step, {path: Blob(text(path, lines)) for path, lines in files.items()}))
    return write(commits, to)


class Both:
    """A window of an upstream, ported at once and one by one onto the same fork."""

    def __init__(
        self, upstream: Path, cutoff: str, tip: str, home: Path, edits: Mapping[str, bytes] | None = None
    ) -> None:
        self.upstream = Repo.open(upstream)
        import_tree(self.upstream, cutoff, home / "fork", Config())
        self.fork = Repo.open(home / "fork")
        if edits:
            for path, data in edits.items():
                file = home / "fork" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
            self.fork.run("add", "-A")
            self.fork.run("commit", "-qm", "Ours")
        places = Places(Config(), self.upstream, Fork(self.fork))
        landings = window(self.upstream, cutoff, tip).landings
        self.stack: Session = start(Request(tuple(x.pr or x.commit for x in landings), name="stack"), places)
        self.window: Session = start_window(Request(cutoff=cutoff, tip=tip, name="window"), places)

    def tree(self, branch: str) -> dict[str, Blob | None]:
        """The files of a branch, ledgers left out."""
        tree = self.fork.tree(f"sync/slime-{branch}")
        return {path: tree.blob(path) for path in tree.paths() if not path.startswith("ledgers/")}

    def ledgers(self, branch: str) -> dict[str, Ledger]:
        """The ledgers of a branch by upstream commit."""
        found = store.read_all(self.fork.tree(f"sync/slime-{branch}"), Config())
        return {x.upstream.commit: x for x in found}


def told(ledger: Ledger) -> dict[str, object]:
    """What a ledger says of each unit, without where it stands in the fork."""
    return {
        e.id: (
            e.op,
            e.state,
            e.link,
            e.rules,
            e.facts,
            e.added,
            e.removed,
        )
        for e in ledger.entries
    }
