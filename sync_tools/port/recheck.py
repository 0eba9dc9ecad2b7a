"""What a ledger's port did, derived again from upstream and the fork's commits."""

from collections.abc import Sequence

from sync_tools.config import Config
from sync_tools.formatters import format_bytes
from sync_tools.ledger.check import Problem, check
from sync_tools.ledger.landing import Landing, Rules
from sync_tools.port.ci import is_generated
from sync_tools.port.images import translation
from sync_tools.port.past import History
from sync_tools.port.style import seam_style
from sync_tools.translate import Translator
from sync_tools.translate.result import Translation
from sync_tools.tree import Tree
from sync_tools.upstream.mirror import cache_dir


def derived_again(
    landing: Landing, config: Config, past: History, head: Tree, others: Sequence[Landing]
) -> list[Problem]:
    """What is wrong with a ledger, by upstream and the rules of its port. `head` is where what it brought must stand."""
    changes = past.changes(landing.ledger)
    if changes is None:
        return [Problem(landing.path, None, f"upstream has no commit {landing.ledger.upstream.commit}")]
    return list(check(landing, changes, rules_of(config, landing), head, others, past))


def rules_of(config: Config, landing: Landing) -> Rules:
    """What the port of a ledger did to a file: with the seam's style of the tree before it."""
    before = landing.before or landing.written
    translator = Translator(config, seam_style(before, config), cache_dir() / "translations")

    def formatted(path: str, data: bytes) -> bytes:
        return format_bytes(path, data, config.formatting)

    def translate(path: str, data: bytes) -> Translation:
        return translation(path, data, config, translator, formatted)

    return Rules(config, translate, translator.path, lambda path: is_generated(path, before, config))
