"""Names of headers and policies that are one word wherever they stand."""

import re

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.rules import Rules


def rewrite(draft: Draft, rules: Rules) -> None:
    for word in rules.words:
        pattern = word.pattern or rf"(?<![\w./-]){re.escape(word.old)}(?![\w(-])"
        for match in re.finditer(pattern, draft.source.text, re.IGNORECASE):
            new = match.expand(word.new) if word.pattern else word.new
            draft.edits.replace(match.span(), new)
            draft.applied(word.rule, match.start(), match.group(), new)
