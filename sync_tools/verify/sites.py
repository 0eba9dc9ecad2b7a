"""Why translation itself left a name where it stands."""

from functools import cache

from sync_tools.config import Config
from sync_tools.translate import Translator
from sync_tools.tree import Tree
from sync_tools.verify.budgeting import Reason


def translations_reason(tree: Tree, config: Config) -> Reason:
    """What translation says of the site that a leftover is; a file is translated when it is first asked about."""
    translator = Translator(config)

    @cache
    def sites(path: str) -> dict[int, str]:
        blob = tree.blob(path)
        found = translator.file(path, blob.data).unresolved if blob else ()
        return {n: site.why for site in found for n in range(site.line, max(site.end_line, site.line) + 1)}

    return lambda left: sites(left.path).get(left.line)
