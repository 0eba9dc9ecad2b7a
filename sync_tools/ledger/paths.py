"""What a path says about a file: whether a glob of the configuration names it, and whether something executes it."""

import re
from functools import lru_cache

EXECUTES = re.compile(
    r"^\.github/(workflows|actions)/|(^|/)(\.githooks|\.husky|hooks)/|(^|/)\.pre-commit-config\.yaml$"
    r"|(^|/)Dockerfile[^/]*$|\.Dockerfile$|(^|/)(setup\.(py|cfg)|pyproject\.toml|requirements[^/]*\.txt|conftest\.py)$"
    r"|(^|/)(GNUmakefile|[Mm]akefile)$|\.mk$|^\.ci/|(^|/)build_[^/]*\.sh$|(^|/)install[^/]*\.sh$"
)


def executes(path: str) -> bool:
    """CI or an installation runs what this file says."""
    return EXECUTES.search(path) is not None


def matches(glob: str, path: str) -> bool:
    """`*` and `?` stay within a folder, `**` crosses folders; a glob that names a folder does not name what is in it."""
    return _compiled(glob).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _compiled(glob: str) -> re.Pattern[str]:
    out, i = "", 0
    while i < len(glob):
        if glob.startswith("**/", i):
            out, i = out + "(?:.*/)?", i + 3
        elif glob.startswith("**", i):
            out, i = out + ".*", i + 2
        else:
            out, i = out + {"*": "[^/]*", "?": "[^/]"}.get(glob[i], re.escape(glob[i])), i + 1
    return re.compile(out, re.DOTALL)
