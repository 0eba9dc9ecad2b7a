"""What commits say of one another: reverts, fixes, mentions."""

import re
from collections.abc import Sequence

from sync_tools.ledger.reverts import COMMIT, NUMBER, PULL, TITLE
from sync_tools.upstream.history import Message

FIX = re.compile(
    r"\b(fix(e[sd]|ing)?|hot-?fix|bug-?fix|bugs?|repairs?|regressions?|restores?|corrects?|crash(es)?|typos?)\b", re.I
)
MENTION = re.compile(r"(?:(?P<repo>[\w.-]+/[\w.-]+))?(?<![\w&])#(?P<pr>[1-9]\d{0,9})\b")
PAGE = re.compile(r"https?://github\.com/(?P<repo>[\w.-]+/[\w.-]+)/(?:pull|issues)/(?P<pr>[1-9]\d{0,9})\b")


def is_fix(message: Message) -> bool:
    """Whether a subject says that something was wrong before."""
    return bool(FIX.search(NUMBER.sub("", message.subject)))


def undone(message: Message, repo: str, earlier: Sequence[Message]) -> tuple[str, ...]:
    """The commits that a commit says it reverts: by hash, by number, or by title the newest of `earlier` (newest first)."""
    found = [m.commit for hex_ in COMMIT.findall(message.body) for m in earlier if m.commit == hex_]
    numbers = {int(m["pr"]) for m in PULL.finditer(message.body) if m["repo"] in (None, repo)}
    subject = TITLE.fullmatch(message.subject)
    if subject and not found and not numbers:
        titled = NUMBER.search(subject["title"])
        title = NUMBER.sub("", subject["title"])
        numbers = {int(titled[1])} if titled else set()
        same = [m.commit for m in earlier if not numbers and NUMBER.sub("", m.subject) == title]
        found += same[:1]
    for number in sorted(numbers):
        found += [m.commit for m in earlier if m.pr == number][:1]
    return tuple(dict.fromkeys(found))


def mentions(message: Message, repo: str) -> tuple[int, ...]:
    """The pull requests and issues of `repo` that a commit's message names, its own number aside."""
    text = NUMBER.sub("", message.subject) + "\n" + message.body
    found = [*MENTION.finditer(text), *PAGE.finditer(text)]
    return tuple(sorted({int(m["pr"]) for m in found if m["repo"] in (None, repo)} - {message.pr}))
