"""Names of headers and policies that are one word wherever they stand."""

import re

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.rules import Rules


def rewrite(draft: Draft, rules: Rules) -> None:
    for word in rules.words:
        for match in re.finditer(rf"(?<![\w./-]){re.escape(word.old)}(?![\w(-])", draft.source.text, re.IGNORECASE):
            draft.edits.replace(match.span(), word.new)
            draft.applied(word.rule, match.start(), match.group(), word.new)
