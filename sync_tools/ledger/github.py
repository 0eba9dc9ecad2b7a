"""The text of a pull request for a port: title, body, labels."""

import re
from dataclasses import dataclass

from sync_tools.config import Config
from sync_tools.ledger.escape import code, plain, prose, references
from sync_tools.ledger.markdown import decisions, entries, mapping, opened, registrations, summary
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.store import markdown_path
from sync_tools.ledger.tables import NONE
from sync_tools.ledger.verified import verified

BODY_LIMIT = 60_000  # the forge refuses bodies over 65,536 characters
LABEL = re.compile(r"run-ci-[\w.-]+")


@dataclass(frozen=True)
class PullRequest:
    """The text that opens a pull request for a port."""

    title: str
    body: str
    labels: tuple[str, ...]


def pull_request(ledger: Ledger, config: Config) -> PullRequest:
    """What to open the pull request with; `labels` start the CI jobs in which the port placed rows."""
    labels = {r.label for r in ledger.ci if r.change != "removed" and LABEL.fullmatch(r.label)}
    return PullRequest(title(ledger, config), body(ledger, config), tuple(sorted(labels)))


def title(ledger: Ledger, config: Config) -> str:
    """The title by sync.toml's pattern; upstream's number is written once, as owner/name#N."""
    origin = ledger.upstream
    known = {
        "upstream": origin.name,
        "subject": plain(references(origin.title, origin.repo)),
        "ref": origin.ref,
        "fork": ledger.fork,
    }
    return re.sub(r"\{(\w+)\}", lambda m: known.get(m[1], m[0]), config.title)


def body(ledger: Ledger, config: Config) -> str:
    """The body: what is open, the table, the mapping, checks; the entries where the forge has room for them."""
    origin, path = ledger.upstream, markdown_path(config, ledger.upstream.stem)
    head = (
        f"Port of {origin.ref}, [{prose(origin.title, origin.repo)}]({origin.url}), by {prose(origin.author, origin.repo)}."
        f" {ledger.accounted} of {ledger.added + ledger.removed} changed lines accounted for in {code(path)}."
    )
    parts = [head, f"### Open\n\n{opened(ledger)}", f"### Summary\n\n{summary(ledger)}"]
    parts += [f"### Mapping\n\n{mapping(ledger)}"]
    parts += [f"### Decisions\n\n{decisions(ledger)}"] if ledger.decisions else []
    parts += [f"### CI\n\n{registrations(ledger)}"] if ledger.ci else []
    parts += [f"### Verified\n\n{verified(ledger)}"]
    detail = f"<details><summary>Every entry</summary>\n\n{entries(ledger)}\n\n</details>"
    text = ""
    for part in [*parts, detail]:
        if len(text) + len(part) > BODY_LIMIT:
            return text + f"The rest is in {code(path)}.\n"
        text += part + "\n\n"
    return text


def text(request: PullRequest) -> str:
    """As `show --format github` prints it."""
    return f"{request.title}\n\n{request.body.rstrip()}\n\nLabels: {', '.join(request.labels) or NONE}\n"
