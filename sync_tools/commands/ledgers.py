"""What the `sync ledger` commands do and print."""

import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.ledger import store
from sync_tools.ledger.decide import resolve
from sync_tools.ledger.desk import Desk
from sync_tools.ledger.due import as_of, by_owner, waiting, waiting_lines
from sync_tools.ledger.evidence import attach, code_tree, gather
from sync_tools.ledger.github import pull_request, text
from sync_tools.ledger.markdown import render
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.overview import lines, overview
from sync_tools.ledger.show import Reader, console, show
from sync_tools.plural import counted
from sync_tools.port.fork import Fork
from sync_tools.terminal import clean, fitted, print_json
from sync_tools.tree import MemoryTree, Tree
from sync_tools.upstream import forge


def listing(settings: Settings) -> int:
    """`sync ledger list`: the ledgers of the checkout and of the branches of ports; 1 while one needs a person."""
    desk = Desk(settings.repo, settings.config)
    here = [_now(settings, ledger) for ledger in store.read_all(desk.here(), settings.config)]
    rows = list(overview(here, settings.today, _code(settings)))
    for branch, ledger in desk.elsewhere():
        rows += overview([_now(settings, ledger)], settings.today, branch=branch)
    if settings.json:
        print_json({"ledgers": [asdict(row) for row in rows]})
    elif not rows:
        print(f"no ledgers in {settings.config.ledgers}/ and on no branch; vime-sync port N writes one")
    else:
        for line in lines(rows):
            print(fitted(clean(line)))
    return 1 if any(row.waiting for row in rows) else 0


def waiting_list(settings: Settings, owner: str) -> int:
    """`sync ledger list --waiting`; 1 while an entry waits now."""
    desk, config, today = Desk(settings.repo, settings.config), settings.config, settings.today
    found = [w for ledger in store.read_all(desk.here(), config) for w in waiting(ledger, config, today)]
    found += [w for branch, ledger in desk.elsewhere() for w in waiting(ledger, config, today, branch)]
    rows = by_owner(found, owner)
    if settings.json:
        print_json({"waiting": [asdict(row) for row in rows]})
    else:
        for line in waiting_lines(rows):
            print(clean(line))
        print(f"{counted(sum(row.now for row in rows), 'entry', 'entries')} to decide now")
    return 1 if any(row.now for row in rows) else 0


def _now(settings: Settings, ledger: Ledger) -> Ledger:
    return as_of(ledger, settings.config, settings.today)


def showing(settings: Settings, number: str, format: str, only: str, full: bool) -> int:
    """`sync ledger show`; 1 while an entry is open."""
    kept, tree = Desk(settings.repo, settings.config).find(number)
    ledger = _now(settings, kept)
    if settings.json:
        value: dict[str, Any] = ledger.model_dump(mode="json", by_alias=True)
        request = pull_request(ledger, settings.config)
        print_json({"ledger": value, "pull_request": asdict(request)})
    elif format == "markdown":
        sys.stdout.write(render(ledger))
    elif format == "github":
        sys.stdout.write(text(pull_request(ledger, settings.config)))
        if ledger.upstream.pr and (page := forge.pull_request(settings.config, ledger.upstream.pr)):
            print(clean(f"Upstream's labels: {', '.join(page.labels) or 'none'}"))
    else:
        before, after = _sides(settings, ledger)
        show(console(sys.stdout), ledger, _reader(before), _reader(after), _reader(tree), only, full)
    return 1 if ledger.open else 0


def _sides(settings: Settings, ledger: Ledger) -> tuple[Tree, Tree]:
    """Upstream before and after, or nothing where it is not there: a ledger can be read without it."""
    try:
        upstream = settings.upstream
    except SyncError as e:
        sys.stderr.write(clean(f"upstream's text is not shown: {e}") + "\n")
        return MemoryTree(), MemoryTree()
    if upstream.commit_of(ledger.upstream.commit) is None:
        sys.stderr.write(
            clean(f"upstream's text is not shown: {upstream.git_dir} lacks {ledger.upstream.commit[:12]}; fetch it")
            + "\n"
        )
        return MemoryTree(), MemoryTree()
    return upstream.tree(ledger.upstream.parent), upstream.tree(ledger.upstream.commit)


def _reader(tree: Tree) -> Reader:
    def read(path: str) -> bytes | None:
        blob = tree.blob(path)
        return blob.data if blob else None

    return read


@dataclass(frozen=True)
class Word:
    """What a person says about an entry: the operation, why, until when, and who is to do it."""

    op: str
    why: str
    until: str | None = None
    owner: str = ""


def deciding(settings: Settings, number: str, entry: str, word: Word, dry_run: bool) -> int:
    """`sync ledger resolve`; 1 while other entries of the ledger are open."""
    desk = Desk(settings.repo, settings.config)
    ledger, _ = desk.find(number)
    who = Fork(settings.repo).committer()
    decided = resolve(ledger, entry, word.op, word.why, f"{who.name} <{who.email}>", word.until, word.owner)
    paths = [] if dry_run else desk.write(decided)
    changed = next(e for e in decided.entries if e.id.startswith(entry))
    left = len(_now(settings, decided).open)
    if settings.json:
        print_json({"entry": changed.model_dump(mode="json"), "written": paths, "open": left})
    else:
        print(clean(f"{changed.id} is {changed.op} now: {changed.reason}; {left} still open"))
        print(f"wrote {', '.join(paths)}" if paths else "nothing was written (--dry-run)")
    return 1 if left else 0


def proving(settings: Settings, number: str, level: str, log: Path, command: str, dry_run: bool) -> int:
    """`sync ledger evidence`; 1 for figures that show nothing."""
    desk = Desk(settings.repo, settings.config)
    ledger, _ = desk.find(number)
    commit = Fork(settings.repo).base(None)
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    found = gather(log.read_bytes(), log.name, level, commit, _code(settings), machine, command)
    paths = [] if dry_run else desk.write(attach(ledger, found))
    if settings.json:
        print_json({"evidence": found.model_dump(mode="json"), "written": paths})
    else:
        for name, value in found.figures.items():
            print(clean(f"{name}: {value}"))
        for warning in found.warnings:
            print(clean(f"shows nothing: {warning}"))
        print(f"wrote {', '.join(paths)}" if paths else "nothing was written (--dry-run)")
    return 1 if found.warnings else 0


def _code(settings: Settings) -> str:
    tree = settings.repo.tree(settings.repo.head())
    return code_tree([(path, oid) for path, (_, oid) in tree.entries.items()], settings.config.ledgers)
