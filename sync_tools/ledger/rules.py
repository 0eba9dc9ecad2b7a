"""Which translation rules applied in which lines of a change."""

from collections import Counter
from collections.abc import Iterable

from sync_tools.ledger.model import RuleUse
from sync_tools.ledger.translated import Translated
from sync_tools.ledger.units import Unit
from sync_tools.ledger.view import FileView
from sync_tools.translate.result import Application
from sync_tools.translate.rules import all_rules

NAMES = "SY2"
PAIRS, PAIR_LENGTH = 8, 60


def applied(view: FileView, unit: Unit) -> tuple[str, ...]:
    """The codes of the rules that applied in the lines of a unit, removed ones and added ones."""
    return tuple(sorted({use.rule for use in _of(view.old, unit.hunk.old) | _of(view.new, unit.hunk.new)}))


def is_seam(rule: str) -> bool:
    """A rule that does more than rename."""
    return not rule.startswith(NAMES)


def uses(views: Iterable[FileView]) -> list[RuleUse]:
    """Each rule that applied in changed lines, how often in added ones, and the spellings that it exchanged."""
    counts: Counter[str] = Counter()
    pairs: dict[str, Counter[tuple[str, str]]] = {}
    for view in views:
        for hunk in view.outcome.change.hunks:
            added = _of(view.new, hunk.new)
            counts.update(use.rule for use in added)
            for use in added | _of(view.old, hunk.old):
                spelled = pairs.setdefault(use.rule, Counter())
                if is_short(use):
                    spelled[use.before.strip(), use.after.strip()] += 1
    titles = {rule.code: rule.title for rule in all_rules()}
    return [
        RuleUse(
            rule=rule,
            title=titles.get(rule, ""),
            count=counts[rule],
            pairs=tuple(sorted(pair for pair, _ in _common(pairs[rule]))),
        )
        for rule in sorted(pairs)
    ]


def _common(spelled: Counter[tuple[str, str]]) -> list[tuple[tuple[str, str], int]]:
    return sorted(spelled.items(), key=lambda item: (-item[1], item[0]))[:PAIRS]


def is_short(use: Application) -> bool:
    """A spelling, not a passage: the ledger holds names of upstream, not its text."""
    return all("\n" not in part.strip() and len(part.strip()) <= PAIR_LENGTH for part in (use.before, use.after))


def _of(side: Translated, lines: range) -> set[Application]:
    return {use for i in lines for use in side.uses.get(i, ())}
