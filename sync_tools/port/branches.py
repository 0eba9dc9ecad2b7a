"""What the branch of a port is called."""

from collections.abc import Sequence

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.upstream.resolve import Landing


def branch_name(name: str | None, landings: Sequence[Landing], config: Config) -> str:
    """`sync/slime-pr-1921`, of a bare commit `sync/slime-<12 hex>`, of a stack `sync/slime-NAME`."""
    upstream = config.upstream.name
    if name:
        if (
            not name.replace("-", "").replace("_", "").replace(".", "").isalnum()
            or ".." in name
            or name.endswith((".", ".lock"))
        ):
            raise SyncError("not a name for a branch", name, "use letters, digits, - and _")
        return f"sync/{upstream}-{name}"
    if len(landings) > 1:
        raise SyncError("several pull requests are one stack, and a stack has a name", "--as", "add --as NAME")
    only = landings[0]
    return f"sync/{upstream}-pr-{only.pr}" if only.pr is not None else f"sync/{upstream}-{only.commit[:12]}"
