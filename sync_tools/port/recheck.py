"""What a ledger's port did, derived again from upstream and the fork's commits."""

from collections.abc import Mapping, Sequence

from sync_tools.config import Config
from sync_tools.formatters import format_bytes
from sync_tools.gitio import Repo
from sync_tools.ledger.check import Problem, check
from sync_tools.ledger.landing import Landing, Rules
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.supersede import Succession
from sync_tools.ledger.windowed import Seen, windowed
from sync_tools.port.ci import is_generated
from sync_tools.port.images import translation
from sync_tools.port.style import seam_style
from sync_tools.translate import Translator
from sync_tools.translate.result import Translation
from sync_tools.tree import Tree
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.upstream.collect import collect
from sync_tools.upstream.mainline import MainLine
from sync_tools.upstream.mirror import cache_dir
from sync_tools.upstream.resolve import Landing as Landed
from sync_tools.upstream.resolve import landing as landed
from sync_tools.upstream.resolve import number_of


class Recheck:
    """The fork's ports, oldest first, against upstream. `head` is where what they brought must stand. What several of
    them need is derived once."""

    def __init__(self, landings: Sequence[Landing], config: Config, upstream: Repo, head: Tree) -> None:
        self._landings, self._config, self._upstream, self._head = landings, config, upstream, head
        line = MainLine(upstream)
        self._position = line.position
        self._succession = Succession(line.position, line.between)
        self._replaced: dict[str, Mapping[str, frozenset[str]]] = {}
        self._seen: dict[str, Seen] = {}
        self._changes: dict[str, ChangeSet] = {}

    def problems(self, landing: Landing) -> list[Problem]:
        """What is wrong with a ledger, by upstream and the rules of its port."""
        origin = landing.ledger.upstream
        if self._upstream.commit_of(origin.commit) is None:
            return [Problem(landing.path, None, f"upstream has no commit {origin.commit}")]
        others = [other for other in self._landings if other is not landing]
        changes, rules = self._collected(landing.ledger), _rules(self._config, landing)
        return list(check(landing, changes, rules, self._head, others, self._windowed(landing), self._replaces))

    def _collected(self, ledger: Ledger) -> ChangeSet:
        commit = ledger.upstream.commit
        if commit not in self._changes:
            self._changes[commit] = collect(self._upstream, _landed(self._upstream, ledger))
        return self._changes[commit]

    def _windowed(self, landing: Landing) -> Seen | None:
        """What became of a landing's files where it was ported with others at once."""
        commit = landing.ledger.upstream.commit
        if commit not in self._seen and (together := self._together(landing)):
            changes = [self._collected(each.ledger) for each in together]
            found = windowed(together, changes, _rules(self._config, landing))
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


def _landed(upstream: Repo, ledger: Ledger) -> Landed:
    """The landing that the ledger's commit is, as upstream says."""
    origin = ledger.upstream
    if origin.pr is None:
        return Landed(None, origin.commit)
    if number_of(upstream.line("log", "-1", "--format=%s", origin.commit)) != origin.pr:
        return Landed(None, origin.commit)
    found = landed(upstream, origin.pr)
    return found if found.commit == origin.commit else Landed(origin.pr, origin.commit)


def _rules(config: Config, landing: Landing) -> Rules:
    """What the port of a ledger did to a file: with the seam's style of the tree before it."""
    before = landing.before or landing.written
    translator = Translator(config, seam_style(before, config), cache_dir() / "translations")

    def formatted(path: str, data: bytes) -> bytes:
        return format_bytes(path, data, config.formatting)

    def translate(path: str, data: bytes) -> Translation:
        return translation(path, data, config, translator, formatted)

    return Rules(config, translate, translator.path, lambda path: is_generated(path, before, config))
