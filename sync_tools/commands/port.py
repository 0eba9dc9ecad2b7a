"""`sync port`: run it, and say what came out."""

import re
from collections import Counter
from collections.abc import Sequence

from sync_tools.commands.options import Settings
from sync_tools.config import load
from sync_tools.errors import SyncError
from sync_tools.plan.forport import Briefer, plan_lines, plan_object
from sync_tools.plan.model import Briefing
from sync_tools.plural import counted
from sync_tools.port import paused
from sync_tools.port.arrange import Progress
from sync_tools.port.branches import branch_name
from sync_tools.port.fork import Fork
from sync_tools.port.report import as_object, lines
from sync_tools.port.request import Request
from sync_tools.port.session import Places, Session, resume, start
from sync_tools.port.window_session import resume_window, start_window
from sync_tools.terminal import clean, console, print_json, watched
from sync_tools.upstream.mirror import open_upstream
from sync_tools.upstream.resolve import Landing, bare_commit

DONE = ("clean", "present")
NAMES_BRANCH = re.compile(r"[0-9a-f]{12,40}")


def run(settings: Settings, request: Request, *, go_on: bool, abort: bool) -> int:
    """Port, go on or give up; 0 where nobody is needed any more."""
    if go_on and abort:
        raise SyncError("--continue and --abort exclude each other", "vime-sync port", "choose one")
    fork = Fork(settings.repo)
    if abort:
        return _abort(settings, fork, request)
    with watched(settings.json) as progress:
        session, briefer = (_resume if go_on else _start)(settings, fork, request, progress)
        told = briefer.briefings([port.changes for port in session.ports])
    if settings.json:
        print_json(_value(session, told))
    else:
        _show(session, told, request.dry_run, settings.config.upstream.repo)
    return 0 if session.status in ("clean", "present") else 1


def _start(settings: Settings, fork: Fork, request: Request, progress: Progress) -> tuple[Session, Briefer]:
    places = Places(settings.config, settings.upstream, fork, settings.today)
    begin = start if request.cutoff is None and request.tip is None else start_window
    session = begin(request, places, progress)
    return session, Briefer(places.upstream, fork.repo, fork.base(request.base), places.config)


def _resume(settings: Settings, fork: Fork, request: Request, progress: Progress) -> tuple[Session, Briefer]:
    state = paused.find(fork, _branch(settings, request))
    recalled = state.recall(request)
    config = load(recalled.config) if recalled.config and not request.config else settings.config
    places = Places(config, open_upstream(recalled.upstream, config), fork, settings.today)
    go_on = resume_window if state.window else resume
    session = go_on(state, recalled, places, progress)
    return session, Briefer(places.upstream, fork.repo, state.base, config, state.done)


def _abort(settings: Settings, fork: Fork, request: Request) -> int:
    with fork.lock():
        name = paused.abort(fork, _branch(settings, request))
    if settings.json:
        print_json({"ports": [], "branch": None, "worktree": None, "status": "clean", "seconds": 0.0})
    else:
        print(f"gave up the port that waited for {name}; no branch was touched")
    return 0


def _branch(settings: Settings, request: Request) -> str | None:
    landings = [Landing(c, "") if isinstance(c, int) else _commit(settings, c) for c in request.changes]
    return branch_name(request.name, landings, settings.config) if landings or request.name else None


def _commit(settings: Settings, rev: str) -> Landing:
    """The commit that a branch is named after; upstream is asked only where the name does not say it."""
    return Landing(None, rev) if NAMES_BRANCH.fullmatch(rev) else bare_commit(settings.upstream, rev)


def _value(session: Session, told: Sequence[Briefing | None]) -> dict[str, object]:
    return {
        "ports": [
            {**as_object(port, path), "plan": plan_object(port, plan)}
            for port, path, plan in zip(session.ports, session.ledgers, told, strict=True)
        ],
        "branch": session.branch,
        "worktree": str(session.worktree) if session.worktree else None,
        "status": session.status,
        "seconds": round(session.seconds, 3),
    }


def _sum(session: Session) -> str:
    """What the landings of a window come to."""
    states = Counter(port.status for port in session.ports)
    told = ", ".join(f"{n} {state}" for state, n in states.most_common())
    ledgers = [port.ledger for port in session.ports]
    total, accounted = sum(x.added + x.removed for x in ledgers), sum(x.accounted for x in ledgers)
    pending = sorted({name for port in session.ports for name, c in port.checks.items() if c.result == "not run"})
    return f"{told}; {accounted} of {total} lines accounted for; pending: {', '.join(pending) or 'none'}"


def _show(session: Session, told: Sequence[Briefing | None], dry_run: bool, upstream: str) -> None:
    from rich.text import Text

    out = console()
    if session.window:
        out.print(Text(f"Window {session.window}: {counted(len(session.ports), 'change')}", style="bold"))
    for port, plan in zip(session.ports, told, strict=True):
        if session.window and port.status in DONE:
            continue
        for style, line in [*lines(port), *(plan_lines(port, plan, upstream) if plan else ())]:
            # What a landing of the window does to another one's lines is done with it.
            if not session.window or (style and not line.startswith("  plan: ")):
                out.print(Text(clean(line), style=style))
    if session.window and session.ports:
        out.print(Text(_sum(session)))
    if session.worktree:
        out.print(Text(f"Resolve the conflicts in {session.worktree}", style="bold"))
        out.print("then: vime-sync port --continue   (or --abort)")
    elif not session.ports:
        out.print("Nothing to do: upstream has no commit between the cutoff and the tip.")
    elif dry_run:
        out.print("Nothing was written (--dry-run).")
    elif session.branch:
        out.print(Text(f"Branch {session.branch}  ({session.seconds:.1f} s)", style="bold"))
        first = session.ports[0].changes
        look = "list --waiting" if session.window else f"show {first.pr or first.commit[:12]}"
        out.print(f"Next: vime-sync ledger {look}   ·   git switch {session.branch}")
    else:
        out.print("No branch was needed: the fork has it all, and its ledger stands.")
