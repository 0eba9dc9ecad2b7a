"""`sync ledger check`: ledgers derived again, decisions and overlays looked at by the day."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from sync_tools.commands.options import Settings
from sync_tools.ledger import store
from sync_tools.ledger.check import Problem, overdue, rendered
from sync_tools.ledger.desk import Desk
from sync_tools.ledger.landing import Landing
from sync_tools.ledger.maker import by_another_renderer
from sync_tools.plural import counted
from sync_tools.port.overlays import Standing, compared, overlay_problems
from sync_tools.port.recheck import Recheck
from sync_tools.terminal import clean, print_json, watched
from sync_tools.tree import Tree

OLDER = "made by other rules: not derived again; port again to renew"


@dataclass(frozen=True)
class Answer:
    """What a check of ledgers found; `older` are those that today's rules would make otherwise."""

    ledgers: int
    problems: tuple[Problem, ...]
    older: tuple[str, ...]
    undeclared: tuple[str, ...]


def checking(settings: Settings, number: str | None) -> int:
    """`sync ledger check`; 1 where a ledger says what is not so, or a decision ran out."""
    desk, config = Desk(settings.repo, settings.config), settings.config
    landings, head = desk.landings(number), desk.head(number)
    asked = [x for x in landings if number is None or x.ledger.upstream.stem == store.stem_of(config, number)]
    with watched(settings.json) as progress:
        answer = _answer(settings, landings, asked, head, progress, overlays=number is None)
    if settings.json:
        print_json({**asdict(answer)})
    else:
        _print(answer)
    return 1 if answer.problems else 0


def _answer(
    settings: Settings,
    landings: Sequence[Landing],
    asked: Sequence[Landing],
    head: Tree,
    progress: Callable[[str], None],
    *,
    overlays: bool,
) -> Answer:
    config, today = settings.config, settings.today
    problems, older = list[Problem](), list[str]()
    recheck = Recheck(landings, config, settings.upstream, head) if asked else None
    for n, landing in enumerate(asked if recheck else (), 1):
        progress(f"checking {landing.path}, {n} of {len(asked)}")
        checked = recheck.checked(landing)
        stale = rendered(landing.ledger, head, config)
        problems += checked.problems
        problems += overdue(landing, config, today)
        if checked.older or (stale and by_another_renderer(landing.ledger)):
            older.append(landing.path)
        else:
            problems += stale
    standing = compared(landings, config, settings.upstream, head) if overlays and landings else Standing()
    problems += overlay_problems(standing, config, today) if overlays else ()
    return Answer(len(asked), tuple(problems), tuple(older), standing.undeclared)


def _print(answer: Answer) -> None:
    for problem in answer.problems:
        print(clean(f"{problem.ledger} {problem.entry or ''}: {problem.what}"))
    for path in answer.older:
        print(clean(f"{path}: {OLDER}"))
    if answer.undeclared:
        files = counted(len(answer.undeclared), "file differs", "files differ")
        print(f"{files} from translated upstream: edited without an overlay, or not ported (--json lists them)")
    older = f", {len(answer.older)} by other rules" if answer.older else ""
    print(f"{counted(answer.ledgers, 'ledger')} checked{older}, {counted(len(answer.problems), 'problem')}")
