"""What commits say of one another: reverts, fixes, mentions."""

import re
from collections.abc import Sequence

from sync_tools.ledger.reverts import NUMBER, named
from sync_tools.upstream.history import Message

FIX = re.compile(
    r"\b(fix(e[sd]|ing)?|hot-?fix|bug-?fix|bugs?|repairs?|regressions?|restores?|corrects?|crash(es)?|typos?)\b", re.I
)
MENTION = re.compile(r"(?:(?<![\w./-])(?P<repo>[\w.-]+/[\w.-]+)|(?<![\w&]))#(?P<pr>[1-9]\d{0,8})\b", re.ASCII)
PAGE = re.compile(r"https?://github\.com/(?P<repo>[\w.-]+/[\w.-]+)/(?:pull|issues)/(?P<pr>[1-9]\d{0,8})\b", re.ASCII)


def is_fix(message: Message) -> bool:
    """Whether a subject says that something was wrong before."""
    return mends(message.subject)


def mends(subject: str) -> bool:
    """Whether a title says that something was wrong before."""
    return bool(FIX.search(NUMBER.sub("", subject)))


def undone(message: Message, repo: str, earlier: Sequence[Message]) -> tuple[str, ...]:
    """The commits, of `earlier` (newest first), that a commit's message says it reverts."""
    refs = named(message.subject, message.body, repo, lambda: [(m.commit, m.subject) for m in earlier])
    found = (next((m.commit for m in earlier if _is(m, ref, repo)), None) for ref in refs)
    return tuple(commit for commit in found if commit)


def _is(message: Message, ref: str, repo: str) -> bool:
    """Whether owner/name#N, or owner/name@<hex>, names a commit."""
    return ref == f"{repo}#{message.pr}" or ref == f"{repo}@{message.commit[:12]}"


def mentions(message: Message, repo: str) -> tuple[int, ...]:
    """The pull requests and issues of `repo` that a commit's message names, its own number aside."""
    text = NUMBER.sub("", message.subject) + "\n" + message.body
    found = [*MENTION.finditer(text), *PAGE.finditer(text)]
    return tuple(sorted({int(m["pr"]) for m in found if m["repo"] in (None, repo)} - {message.pr}))
