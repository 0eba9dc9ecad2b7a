"""A run of `sync port --cutoff A --tip B`: a window of upstream's history as one branch with two commits."""

import time
from collections.abc import Mapping
from dataclasses import replace

from sync_tools.errors import SyncError
from sync_tools.ledger import store
from sync_tools.ledger.model import Ledger
from sync_tools.paths import safe
from sync_tools.port import paused
from sync_tools.port.arrange import Progress
from sync_tools.port.branches import branch_name
from sync_tools.port.commits import window_message
from sync_tools.port.known import known
from sync_tools.port.ported import Port
from sync_tools.port.record import summary
from sync_tools.port.request import Request
from sync_tools.port.result import Message, Places, Session
from sync_tools.port.session import Run
from sync_tools.port.window import WindowPort, port_window
from sync_tools.tree import Blob, Tree
from sync_tools.upstream.collect import collect
from sync_tools.upstream.window import Window, window


def start_window(request: Request, places: Places, progress: Progress = lambda _: None) -> Session:
    """Port the window that is asked for. Raises SyncError, with nothing changed."""
    began = time.monotonic()
    if request.changes:
        raise SyncError(
            "a window and single changes are two ports", "--cutoff, --tip", "leave out the numbers, or the ends"
        )
    if not request.name:
        raise SyncError("a window has a name", "--as", "add --as NAME")
    for path in request.bring:
        safe(path, "--bring")
    asked = _window(request, places)
    branch = branch_name(request.name, asked.landings, places.config)
    said = f"{asked.cutoff[:12]}..{asked.tip[:12]}" + (
        "" if request.cutoff is not None else ", from where the fork began"
    )
    if not asked.landings:
        return Session((), (), None, None, time.monotonic() - began, said)
    if request.dry_run:
        run = Run(request, places, branch, places.fork.base(request.base), None, progress)
        return replace(_begin(run, asked), window=said)
    committer = places.fork.committer()
    with places.fork.lock():
        run = Run(request, places, branch, places.fork.base(request.base), committer, progress)
        return replace(_begin(run, asked), window=said)


def _window(request: Request, places: Places) -> Window:
    if request.tip is None:
        raise SyncError("a window needs its end", "--tip", "add --tip REV, the last commit of upstream's to port")
    cutoff = request.cutoff
    if cutoff is None:
        cutoff = known(places.fork.repo, places.fork.base(request.base), places.config).cutoff
        if cutoff is None:
            raise SyncError(
                "nothing says where the fork stands in upstream's history",
                "--cutoff",
                "add --cutoff REV, the last commit of upstream's that the fork has",
            )
    return window(places.upstream, cutoff, request.tip)


def _begin(run: Run, asked: Window) -> Session:
    fork = run.places.fork
    old = fork.may_replace(run.branch, run.base) if run.committer else None
    if run.committer:
        paused.refuse_worked_on(fork, run.branch)
    session = _port(run, asked, run.base, old, {})
    if run.committer and session.worktree is None:
        paused.discard(fork, run.branch)
    return session


def resume_window(
    state: paused.State, request: Request, places: Places, progress: Progress = lambda _: None
) -> Session:
    """Go on with a window whose conflicts a person resolved. Raises SyncError while one is left."""
    fork, committer = places.fork, places.fork.committer()
    with fork.lock():
        old = fork.may_replace(state.branch, state.base)
        resolutions = paused.resolved(fork, state)
        run = Run(request, places, state.branch, state.base, committer, progress)
        session = _port(run, window(places.upstream, *state.window), state.tip, old, resolutions)
        if session.worktree is None:
            paused.discard(fork, state.branch)
        return session


def _port(
    run: Run,
    asked: Window,
    tip: str,
    old: str | None,
    resolutions: Mapping[str, Blob | None],
) -> Session:
    """The window onto `tip`, and the branch moved; or its conflicts laid out for a person."""
    began, places = time.monotonic(), run.places
    tree, upstream = places.fork.repo.tree(tip), places.config.upstream.repo
    run.progress("reading upstream")
    changes = [collect(places.upstream, each) for each in asked.landings]
    job = run.job(asked.tip, tree, tip)
    if resolutions and run.committer:
        who = f"{run.committer.name} <{run.committer.email}>"
        job = replace(job, resolutions=resolutions, decided_by=who)
    port = port_window(changes, job, run.progress)
    ports, ledgers = _recorded(run, port, tree, f"--cutoff {asked.cutoff[:12]} --tip {asked.tip[:12]}")
    after = run.together(port.files.final, ledgers, tree)
    if run.committer is None:
        run.refuse_unbrought(ports)
        return run.session(ports, None, None, began)
    first = Message(window_message(changes, upstream, run.committer), None)
    if port.files.conflicts:
        place = run.pause(port.files, first, after, tip, asked.landings, window=(asked.cutoff, asked.tip))
        return run.session(ports, None, place, began)
    run.refuse_unbrought(ports)
    if after:
        body = summary(ports, port.files.checks)
        second = window_message(changes, upstream, run.committer, body)
        tip = run.commit_files(port.files, after, tip, first, second)
    moved = run.move(tip, old)
    return run.session(ports, run.branch if moved else None, None, began)


def _recorded(run: Run, port: WindowPort, tree: Tree, asked: str) -> tuple[list[Port], dict[str, Ledger]]:
    """The landings with their ledgers, and the ledgers that change. One that was ported before keeps the ledger of that."""
    config, shelf = run.places.config, run.kept.shelf
    standing = {x.upstream.commit: x for x in store.read_all(tree, config, shelf.loads)}
    fresh = [p for p in port.ports if p.changes.commit not in standing]
    told = run.recorded([run.with_history(p, tree) for p in fresh], tree, asked)
    known = standing | {x.upstream.commit: x for x in told.values()}
    return [replace(p, ledger=known[p.changes.commit]) for p in port.ports], told
