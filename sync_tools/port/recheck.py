"""What a ledger's port did, derived again from upstream and the fork's commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sync_tools.config import Config
from sync_tools.formatters import format_bytes
from sync_tools.gitio import Repo
from sync_tools.ledger.check import Problem, check, problems
from sync_tools.ledger.landing import Landing, Rules
from sync_tools.ledger.maker import by_other_rules
from sync_tools.ledger.plain import plainly
from sync_tools.ledger.supersede import Succession
from sync_tools.ledger.windowed import Seen, windowed
from sync_tools.port.ci import is_generated
from sync_tools.port.images import translation
from sync_tools.port.past import History
from sync_tools.port.style import seam_style
from sync_tools.translate import Translator
from sync_tools.translate.result import Translation
from sync_tools.tree import Tree
from sync_tools.upstream.mainline import MainLine
from sync_tools.upstream.mirror import cache_dir


@dataclass(frozen=True)
class Checked:
    """What is wrong with a ledger. `older`: other rules made it, by today's it would be another; what holds by whatever
    rules was checked."""

    problems: tuple[Problem, ...]
    older: bool = False


class Recheck:
    """The fork's ports, oldest first, against upstream. `head` is where what they brought must stand. What several of
    them need is derived once."""

    def __init__(self, landings: Sequence[Landing], config: Config, upstream: Repo, head: Tree) -> None:
        line = MainLine(upstream)
        self._landings, self._config, self._past, self._head = landings, config, History(line), head
        self._position = line.position
        self._succession = Succession(line.position, line.between)
        self._replaced: dict[str, Mapping[str, frozenset[str]]] = {}
        self._seen: dict[str, Seen] = {}

    def checked(self, landing: Landing) -> Checked:
        """What is wrong with a ledger, by upstream and the rules of its port."""
        changes = self._past.changes(landing.ledger)
        if changes is None:
            return Checked((Problem(landing.path, None, f"upstream has no commit {landing.ledger.upstream.commit}"),))
        others = [other for other in self._landings if other is not landing]
        rules, seen = rules_of(self._config, landing), self._windowed(landing)
        found = check(landing, changes, rules, self._head, others, self._past, seen, self._replaces)
        if not found or not by_other_rules(landing.ledger, self._config):
            return Checked(found)
        plain = plainly(landing, changes, self._config, self._head, others, self._past)
        return Checked(problems(landing, plain), older=True)

    def _windowed(self, landing: Landing) -> Seen | None:
        """What became of a landing's files where it was ported with others at once."""
        commit = landing.ledger.upstream.commit
        if commit not in self._seen and (together := self._together(landing)):
            changes = [found for each in together if (found := self._past.changes(each.ledger))]
            found = windowed(together, changes, rules_of(self._config, landing))
            self._seen |= {c.commit: seen for c, seen in zip(changes, found, strict=True)}
        return self._seen.get(commit)

    def _together(self, landing: Landing) -> list[Landing]:
        """The landings that one commit of the fork ported, in upstream's order; none for one that was ported alone."""
        ported = [x for x in self._landings if x.port_at == landing.port_at and x.written_at == landing.written_at]
        placed = [(at, x) for x in ported if (at := self._position(x.ledger.upstream.commit)) is not None]
        return [x for _, x in sorted(placed, key=lambda item: item[0])] if len(placed) > 1 else []

    def _replaces(self, by: Landing) -> Mapping[str, frozenset[str]]:
        ref = by.ledger.upstream.ref
        if ref not in self._replaced:
            self._replaced[ref] = self._succession.replaces(by.ledger, [x.ledger for x in self._landings])
        return self._replaced[ref]


def rules_of(config: Config, landing: Landing) -> Rules:
    """What the port of a ledger did to a file: with the seam's style of the tree before it."""
    before = landing.before or landing.written
    translator = Translator(config, seam_style(before, config), cache_dir() / "translations")

    def formatted(path: str, data: bytes) -> bytes:
        return format_bytes(path, data, config.formatting)

    def translate(path: str, data: bytes) -> Translation:
        return translation(path, data, config, translator, formatted)

    return Rules(config, translate, translator.path, lambda path: is_generated(path, before, config))
