"""Which rules and which renderer make ledgers now."""

from sync_tools.config import Config
from sync_tools.ledger.markdown import RENDERER
from sync_tools.ledger.model import Ledger, Maker
from sync_tools.translate import rules_digest


def maker(config: Config) -> Maker:
    """The makers of today's ledgers; the same for every file and every seam style of a fork."""
    return Maker(rules=rules_digest(config)[:16], markdown=RENDERER)


def by_other_rules(ledger: Ledger, config: Config) -> bool:
    """Whether a ledger says that other rules made it."""
    return ledger.made_by is not None and ledger.made_by.rules != maker(config).rules


def by_another_renderer(ledger: Ledger) -> bool:
    """Whether a ledger's Markdown is that of another renderer."""
    return ledger.made_by is not None and ledger.made_by.markdown != RENDERER
