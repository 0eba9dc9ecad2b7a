"""Where a file of upstream's lives in the fork."""

from sync_tools.config import Config
from sync_tools.policy import policy_for
from sync_tools.translate.names import naming, rename_all


def downstream_path(config: Config, path: str) -> str:
    """The fork's path of upstream's: by policy `into`, else by `paths` of the configuration, else by the names.

    A path that is the fork's already comes back unchanged. The result never leaves the tree: names hold no slash.
    """
    policy = policy_for(config, path)
    if policy is not None and policy.into is not None:
        return policy.into
    for move in sorted(config.paths, key=lambda m: -len(m.old)):
        if path == move.old:
            return move.new
        if path.startswith(move.old.rstrip("/") + "/"):
            return move.new.rstrip("/") + path[len(move.old.rstrip("/")) :]
    names = naming(config)
    return "/".join(rename_all(part, names) for part in path.split("/"))
