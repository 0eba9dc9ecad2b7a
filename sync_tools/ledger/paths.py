"""Files that CI or an installation executes, told by their paths."""

import re

EXECUTES = re.compile(
    r"^\.github/(workflows|actions)/|(^|/)(\.githooks|\.husky|hooks)/|(^|/)\.pre-commit-config\.yaml$"
    r"|(^|/)Dockerfile[^/]*$|\.Dockerfile$|(^|/)(setup\.(py|cfg)|pyproject\.toml|requirements[^/]*\.txt|conftest\.py)$"
    r"|(^|/)(GNUmakefile|[Mm]akefile)$|\.mk$|^\.ci/|(^|/)build_[^/]*\.sh$|(^|/)install[^/]*\.sh$"
)


def executes(path: str) -> bool:
    """CI or an installation runs what this file says."""
    return EXECUTES.search(path) is not None
