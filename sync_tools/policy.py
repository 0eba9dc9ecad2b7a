"""Which path policy of sync.toml holds for a path of upstream's."""

import re
from functools import cache

from sync_tools.config import Config, PathPolicy
from sync_tools.upstream.changeset import FileChange

CONFIGURATION = "sync.toml"
OURS = "what decides and records the ports is the fork's own"


@cache
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob as a regular expression: `**` crosses folders, `*` and `?` stay in one, `[...]` is a set."""
    out, i = [], 0
    while i < len(glob):
        if glob.startswith("**/", i):
            out.append("(?:[^/]+/)*")
            i += 3
        elif glob.startswith("**", i):
            out.append(".*")
            i += 2
        elif glob[i] == "[" and "]" in glob[i + 2 :]:
            end = glob.index("]", i + 2)
            members = (
                glob[i + 1 : end]
                .replace("\\", r"\\")
                .replace("[", r"\[")
                .replace("&", r"\&")
                .replace("~", r"\~")
                .replace("|", r"\|")
            )
            out.append(f"(?!/)[{'^' + members[1:] if members[0] in '!^' else members}]")
            i = end + 1
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(glob[i]) or re.escape(glob[i]))
            i += 1
    return re.compile("".join(out), re.DOTALL)


def literal(path: str) -> str:
    """The glob that matches this path alone."""
    return re.sub(r"[*?\[]", lambda m: f"[{m[0]}]", path)


def matches(glob: str, path: str) -> bool:
    """True where the whole path matches; a glob that ends in `/` means everything below."""
    return bool(glob_pattern(glob + "**" if glob.endswith("/") else glob).fullmatch(path))


def policy_for(config: Config, path: str) -> PathPolicy | None:
    """The first policy whose glob matches upstream's path, or None: the path is ported like any other.

    The fork's configuration and ledgers are its own, whatever sync.toml says: upstream decides neither.
    """
    if path == CONFIGURATION or path.startswith(f"{config.ledgers}/") or path == config.ledgers:
        return PathPolicy(match=config.ledgers, action="owned", reason=OURS)
    return next((p for p in config.policies if matches(p.match, path)), None)


def policy_of(config: Config, change: FileChange) -> PathPolicy | None:
    """The policy that holds for a change: that of its path, or, where upstream renames a file that the fork owns or keeps
    elsewhere, that of the old path. Renaming it does not give upstream the fork's file."""
    policy = policy_for(config, change.path)
    if policy is None and change.before is not None and change.before.path != change.path:
        earlier = policy_for(config, change.before.path)
        return earlier if earlier and earlier.action != "skip" else None
    return policy
