"""What the `sync residue` commands do and print."""

from collections.abc import Iterator
from dataclasses import asdict

from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.files import write_atomically
from sync_tools.ledger.decide import last_day
from sync_tools.ledger.desk import Desk
from sync_tools.paths import safe_in
from sync_tools.plural import counted
from sync_tools.policy import matches
from sync_tools.port.fork import Fork
from sync_tools.terminal import clean, print_json
from sync_tools.tree import Tree, text
from sync_tools.verify.budget import Account, Allowed, Budget, account, read
from sync_tools.verify.budgeting import Change, Grant, Reason, follow, written
from sync_tools.verify.census import census
from sync_tools.verify.leftovers import Leftover
from sync_tools.verify.sites import translations_reason

UNEXPLAINED = "no reason given"


def checking(settings: Settings) -> int:
    """`sync residue check`; 1 where there is more than is allowed."""
    told = _account(settings, _tree(settings))
    problems = list(_problems(told, settings))
    roomy = [use for use in told.uses if use.room]
    if settings.json:
        print_json(
            {
                "leftovers": _total(told),
                "problems": problems,
                "shrinkable": [{**_row(use.row), "found": len(use.found)} for use in roomy],
            }
        )
    else:
        for p in problems:
            print(clean(f"{p['path']}:{p['line']}: `{p['word']}` {p['what']}; {p['fix']}"))
        for use in roomy:
            print(
                clean(f"can shrink: {use.row.name} has {len(use.found)} of {use.row.count}: vime-sync residue update")
            )
        print(f"{counted(_total(told), 'leftover')}, {counted(len(problems), 'problem')}")
    return 1 if problems else 0


def _problems(told: Account, settings: Settings) -> Iterator[dict[str, object]]:
    """Every place that could be the one too many, with what is wrong and what mends it."""
    fix = "translate it, or vime-sync residue update --reason TEXT"
    for left in told.unexplained:
        yield _problem(left, f"has no row in {settings.config.residue}", fix)
    for use in (use for use in told.uses if use.over):
        row, n = use.row, len(use.found)
        over = f"is one of {n} where {row.name} allows {row.count}"
        out = f"was allowed until {row.until} ({row.reason})"
        for left in use.found:
            yield _problem(left, out if use.ran_out else over, "decide again: " + fix if use.ran_out else fix)


def _problem(left: Leftover, what: str, fix: str) -> dict[str, object]:
    return {"path": left.path, "line": left.line, "word": left.word, "what": what, "fix": fix}


def listing(settings: Settings, only: str) -> int:
    """`sync residue list`."""
    tree = _tree(settings)
    told, sites = _account(settings, tree, only), translations_reason(tree, settings.config)
    rows = list(_listed(told, sites))
    if settings.json:
        print_json({"leftovers": [{**asdict(left), **terms} for left, terms in rows]})
        return 0
    groups: dict[str, list[Leftover]] = {}
    for left, terms in rows:
        until = f", until {terms['until']}" if terms["until"] else ""
        groups.setdefault(f"{terms['reason'] or UNEXPLAINED}{until}", []).append(left)
    for reason, found in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        print(clean(f"{len(found)}  {reason}"))
        for left in found:
            print(clean(f"    {left.path}:{left.line} {left.word}"))
    print(counted(len(rows), "leftover"))
    return 0


def _listed(told: Account, sites: Reason) -> Iterator[tuple[Leftover, dict[str, object]]]:
    for use in told.uses:
        for left in use.found:
            yield left, {"reason": use.row.reason, "who": use.row.who, "until": use.row.until, "allowed": not use.over}
    for left in told.unexplained:
        yield left, {"reason": sites(left) or "", "who": "", "until": None, "allowed": False}


def updating(settings: Settings, reason: str, sites: bool, until: str | None, only: str, dry_run: bool) -> int:
    """`sync residue update`; 1 while leftovers are left for which nobody gave a reason."""
    if settings.repo.work_tree is None:
        raise SyncError("a bare repository has no files to write", str(settings.repo.git_dir), "use a clone of it")
    tree = _tree(settings)
    told = _account(settings, tree)
    changes = follow(told, _grant(settings, tree, reason.strip(), sites, until, only))
    path, content = settings.config.residue, text(tree, settings.config.residue)
    after = written(content, changes)
    wanted = after != content and (content is not None or any(change.after for change in changes))
    if wanted and not dry_run:
        write_atomically(settings.repo.work_tree / safe_in(tree, path, "the budget"), after.encode())
    left = _without_room(told, changes, settings)
    _tell(settings, changes, path if wanted else None, left, dry_run)
    return 1 if left else 0


def _without_room(told: Account, changes: tuple[Change, ...], settings: Settings) -> int:
    """The leftovers that the budget has no room for after the changes."""
    found = [*told.unexplained, *(left for use in told.uses for left in use.found)]
    after = account(found, Budget(leftover=tuple(c.after for c in changes if c.after)), settings.today)
    return len(after.unexplained) + sum(use.over for use in after.uses)


def _grant(settings: Settings, tree: Tree, reason: str, sites: bool, until: str | None, only: str) -> Grant:
    """Who gives which reason. Raises SyncError for a day that is none, and for a day without a reason."""
    until = last_day(until)
    if not reason and not sites:
        if until:
            raise SyncError("a day without a reason", "--until", "say why: --reason TEXT")
        return Grant()
    own = translations_reason(tree, settings.config) if sites else None
    who = Fork(settings.repo).committer()

    def given(left: Leftover) -> str | None:
        if only and not matches(only, left.path):
            return None
        return reason or (own(left) if own else None)

    return Grant(given, f"{who.name} <{who.email}>", until)


def _tell(settings: Settings, changes: tuple[Change, ...], path: str | None, left: int, dry_run: bool) -> None:
    told = [change for change in changes if change.what != "kept"]
    if settings.json:
        rows = [
            {
                "change": change.what,
                "before": _row(change.before) if change.before else None,
                "after": _row(change.after) if change.after else None,
            }
            for change in told
        ]
        print_json({"rows": rows, "unexplained": left, "written": [path] if path and not dry_run else []})
        return
    for change in told:
        row = change.after or change.before
        counts = f"{change.before.count if change.before else 0} -> {change.after.count if change.after else 0}"
        print(clean(f"{change.what}: {row.name if row else ''} {counts}"))
    if left:
        print(f"{counted(left, 'leftover')} without room: give a reason with --reason TEXT, or translate")
    if path:
        print("nothing was written (--dry-run)" if dry_run else f"wrote {path}")
    elif not left:
        print("nothing to do: the budget is what there is")


def _account(settings: Settings, tree: Tree, only: str = "") -> Account:
    found = census(tree, settings.config, lambda path: not only or matches(only, path))
    return account(found, read(tree, settings.config), settings.today)


def _total(told: Account) -> int:
    return sum(len(use.found) for use in told.uses) + len(told.unexplained)


def _row(row: Allowed) -> dict[str, object]:
    return row.model_dump(mode="json")


def _tree(settings: Settings) -> Tree:
    return Desk(settings.repo, settings.config).here()
