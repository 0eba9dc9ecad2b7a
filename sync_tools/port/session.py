"""A run of `sync port`: from the repositories to one branch update, or to a work tree that waits for a person.

Until the last step nothing that a user sees has moved: objects are added to the store, and nothing else.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sync_tools.errors import SyncError
from sync_tools.formatters import format_bytes
from sync_tools.ledger.due import ran_out
from sync_tools.ledger.model import Ledger
from sync_tools.paths import refuse_collisions, safe
from sync_tools.port import paused
from sync_tools.port.ahead import Read, reading
from sync_tools.port.arrange import Progress
from sync_tools.port.branches import branch_name
from sync_tools.port.commits import adaptation_message, commit, mechanical_message, write_tree
from sync_tools.port.edits import Edits
from sync_tools.port.file import Setting
from sync_tools.port.kept import Kept
from sync_tools.port.pipeline import Job, port_changes
from sync_tools.port.ported import Files, Port
from sync_tools.port.record import ledger_edits, ledger_path, recorded, summary, with_history
from sync_tools.port.request import Request
from sync_tools.port.result import Message, Places, Session
from sync_tools.port.style import required_style
from sync_tools.tree import Blob, Tree, edited
from sync_tools.upstream.changeset import Person
from sync_tools.upstream.collect import collect
from sync_tools.upstream.mirror import anywhere, cache_dir
from sync_tools.upstream.resolve import Landing, bare_commit, landing


def start(request: Request, places: Places, progress: Progress = lambda _: None) -> Session:
    """Port what is asked for. Raises SyncError, with nothing changed."""
    for path in request.bring:
        safe(path, "--bring")
    landings = _landings(request, places)
    branch = branch_name(request.name, landings, places.config)
    if request.dry_run:
        return _run(request, places, branch, landings, None, progress)
    committer = places.fork.committer()
    with places.fork.lock():
        return _run(request, places, branch, landings, committer, progress)


def _landings(request: Request, places: Places) -> list[Landing]:
    upstream = places.upstream
    found = [landing(upstream, c) if isinstance(c, int) else bare_commit(upstream, c) for c in request.changes]
    if not found:
        raise SyncError("nothing to port", "vime-sync port", "name a pull request: vime-sync port 1921")
    if len({f.commit for f in found}) < len(found):
        raise SyncError("the same change is named twice", "vime-sync port", "name each one once")
    return found


def _run(
    request: Request,
    places: Places,
    branch: str,
    landings: Sequence[Landing],
    committer: Person | None,
    progress: Progress,
) -> Session:
    fork = places.fork
    base = fork.base(request.base)
    old = fork.may_replace(branch, base) if committer else None
    if committer:
        paused.refuse_worked_on(fork, branch)
    run = Run(request, places, branch, base, committer, progress)
    session = run.go_on(base, landings, (), old)
    if committer and session.worktree is None:
        paused.discard(fork, branch)
    return session


@dataclass(frozen=True)
class Run:
    """The steps of one run over its changes, one after another."""

    request: Request
    places: Places
    branch: str
    base: str
    committer: Person | None
    progress: Progress
    kept: Kept = field(default_factory=Kept)
    read: Read | None = None

    def go_on(self, tip: str, landings: Sequence[Landing], done: tuple[str, ...], old: str | None) -> Session:
        """Port the landings that are left onto `tip`, then move the branch; stop at the first conflict."""
        tree: Tree = self.places.fork.repo.tree(tip)
        with self.reading(landings, tree) as run:
            return run._port_all(tip, tree, landings, done, old)

    @contextmanager
    def reading(self, landings: Sequence[Landing], tree: Tree) -> Iterator["Run"]:
        """This run, with the changes read ahead of the ports."""
        config = self.places.config
        translator = self.kept.translator(config, required_style(tree, config), self._cache())
        with reading(self.places.upstream, landings, translator) as read:
            yield replace(self, read=read)

    def _port_all(
        self, tip: str, tree: Tree, landings: Sequence[Landing], done: tuple[str, ...], old: str | None
    ) -> Session:
        began, ports = time.monotonic(), []
        for number, landing_ in enumerate(landings):
            port = self.port(landing_, tree, tip)
            ports.append(port)
            after = self.after(port, tree)
            if port.conflicts:
                place = None
                if self.committer:
                    place = self.pause(port.files, self._first(port), after, tip, landings[number:], done)
                return self.session(ports, None, place, began)
            if self.committer:
                tip = self.commit_port(port, after, tip)
            tree = edited(tree, after)
            done = (*done, landing_.commit)
        if not done[: len(done) - len(landings)]:
            self.refuse_unbrought(ports)
        moved = self.move(tip, old)
        return self.session(ports, self.branch if moved else None, None, began)

    def port(self, landing_: Landing, tree: Tree, tip: str, job: Callable[[Job], Job] = lambda job: job) -> Port:
        """One change onto a tree."""
        changes = self.read(landing_) if self.read else collect(self.places.upstream, landing_)
        self.progress(f"{changes.subject}")
        began = time.monotonic()
        port = port_changes(changes, job(self.job(landing_.commit, tree, tip)), self.progress)
        return replace(self.with_history(port, tree), seconds=time.monotonic() - began)

    def with_history(self, port: Port, tree: Tree) -> Port:
        """A port with what people and earlier ports said of it, and what of that has run out."""
        config, today = self.places.config, self.places.today
        ledger = with_history(port, tree, config, self.kept.shelf)
        return replace(port, ledger=ledger, overdue=ran_out(ledger, config, today) if today else ())

    def job(self, upstream: str, tree: Tree, tip: str) -> Job:
        """How upstream's change that ends in a commit is ported onto the tree of the fork's commit `tip`."""
        config, fork = self.places.config, self.places.fork
        setting = Setting(
            tree=tree,
            config=config,
            translator=self.kept.translator(config, required_style(tree, config), self._cache()),
            format=lambda path, data: format_bytes(path, data, config.formatting),
            removed_by=lambda path: self.kept.removal(path, fork, tip),
            brought=frozenset(self.request.bring),
        )
        return Job(setting, self.places.upstream.tree(upstream), self.request.run_tests, sources=self.kept.sources)

    def after(self, port: Port, tree: Tree) -> dict[str, Blob | None]:
        """Everything that the two commits of a port change. Raises SyncError for what would run over the fork's own."""
        return self.together(port.final, self.recorded([port], tree), tree)

    def recorded(self, ports: Sequence[Port], tree: Tree, asked: str = "") -> dict[str, Ledger]:
        """The ledgers that ports write or change."""
        succession = self.kept.succession(self.places.upstream)
        past = self.kept.past(self.places.upstream)
        return recorded(ports, tree, self.places.config, self.kept.shelf, past, succession, asked)

    def together(self, final: Edits, ledgers: Mapping[str, Ledger], tree: Tree) -> dict[str, Blob | None]:
        """The files of a port and its ledgers. Raises SyncError for what would run over the fork's own."""
        edits = {**final, **ledger_edits(ledgers, tree, self.places.config, self.kept.shelf)}
        refuse_collisions(edits, tree, "the port")
        return edits

    def _cache(self) -> Path | None:
        return cache_dir() / "translations" if self.committer else None

    def commit_port(self, port: Port, after: dict[str, Blob | None], tip: str) -> str:
        """The two commits of a port on `tip`; the second one's id, or `tip` when the ledger stands there unchanged."""
        upstream = self.places.config.upstream.repo
        assert self.committer
        second = adaptation_message(port.changes, upstream, self.committer, summary([port]))
        return self.commit_files(port.files, after, tip, self._first(port), second) if after else tip

    def commit_files(self, files: Files, after: dict[str, Blob | None], tip: str, first: Message, second: str) -> str:
        """The mechanical commit and the adaptation commit on `tip`; the second one's id."""
        repo = self.places.fork.repo
        self.kept.committed(after)
        mechanical = commit(repo, write_tree(repo, tip, files.mechanical), tip, first.text, first.author)
        return commit(repo, write_tree(repo, tip, after), mechanical, second, None)

    def _first(self, port: Port) -> Message:
        assert self.committer
        repository = self.places.config.upstream.repo
        return Message(mechanical_message(port.changes, repository, self.committer), port.changes.author)

    def pause(
        self,
        files: Files,
        first: Message,
        after: dict[str, Blob | None],
        tip: str,
        left: Sequence[Landing],
        done: tuple[str, ...] = (),
        window: tuple[str, ...] = (),
    ) -> Path:
        """Lay out the conflicts for a person; where."""
        repo, stages = self.places.fork.repo, files.stages
        mechanical = commit(repo, write_tree(repo, tip, files.mechanical), tip, first.text, first.author)
        state = paused.State(
            branch=self.branch,
            base=self.base,
            tip=tip,
            done=done,
            landings=tuple((each.pr, each.commit) for each in left),
            conflicts=tuple(sorted(stages)),
            undecided=tuple(sorted(set(stages) - files.marked)),
            name=self.request.name,
            bring=self.request.bring,
            upstream=self.request.upstream and anywhere(self.request.upstream),
            config=str(self.request.config.resolve()) if self.request.config else None,
            window=window,
        )
        return paused.pause(self.places.fork, state, mechanical, after, stages)

    def refuse_unbrought(self, ports: Sequence[Port]) -> None:
        """A path to bring that no change touches is a slip of the hand."""
        known = {path for p in ports for o in p.outcomes for path in (o.path, o.change.path)}
        for path in self.request.bring:
            if path not in known:
                raise SyncError(
                    "nothing to bring: the change does not touch it", path, "name a path that the port lists as absent"
                )

    def move(self, tip: str, old: str | None) -> bool:
        """Point the branch to `tip`; False where nothing is to be moved."""
        if self.committer is None or tip == self.base or tip == old:
            return False
        self.places.fork.move(self.branch, tip, old)
        return True

    def session(self, ports: Sequence[Port], branch: str | None, place: Path | None, began: float) -> Session:
        """What came of the run."""
        paths = tuple(ledger_path(p.ledger, self.places.config) for p in ports)
        return Session(tuple(ports), paths, branch, place, time.monotonic() - began)


def resume(state: paused.State, request: Request, places: Places, progress: Progress = lambda _: None) -> Session:
    """Go on with a port whose conflicts a person resolved. Raises SyncError while one is left.

    The request is the one to go on, with what the waiting port recalls (`State.recall`)."""
    fork, committer = places.fork, places.fork.committer()
    with fork.lock():
        old = fork.may_replace(state.branch, state.base)
        resolutions = paused.resolved(fork, state)
        run = Run(request, places, state.branch, state.base, committer, progress)
        first, *left = (Landing(pr, commit_) for pr, commit_ in state.landings)
        tree: Tree = fork.repo.tree(state.tip)
        who = f"{committer.name} <{committer.email}>"
        port = run.port(first, tree, state.tip, lambda job: replace(job, resolutions=resolutions, decided_by=who))
        tip = run.commit_port(port, run.after(port, tree), state.tip)
        session = run.go_on(tip, left, (*state.done, first.commit), old)
        if session.worktree is None:
            paused.discard(fork, state.branch)
        ledgers = (ledger_path(port.ledger, places.config), *session.ledgers)
        return replace(session, ports=(port, *session.ports), ledgers=ledgers)
