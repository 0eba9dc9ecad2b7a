"""The table of hooks as Markdown, for docs/hooks.md: `python -m vime.rollout.hook_table`."""

import inspect

from vime.rollout.hooks import HOOKS


def markdown() -> str:
    """A row a hook: its option, how it is called, what it returns and what it is for."""
    rows = ["| option | called as | returns | for |", "|---|---|---|---|"]
    for hook in HOOKS:
        returns = str(hook.signature.return_annotation).replace("|", "\\|")
        about = " ".join((inspect.getdoc(hook.shape) or "").split()).replace("|", "\\|")
        rows.append(f"| `{hook.flag}` | `{hook.call}` | `{returns}` | {about} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(markdown())
