"""What a fork writes above or beside an import that upstream deletes is not deleted with it in silence."""

import pytest

from sync_tools.merge.file import merge_file

BASE = b"""import os

import numpy as np
import router
from packaging.version import (
    Version,  # the parsed form
    parse,
)
from tqdm import tqdm

x = parse(router.__version__)
"""
IMPORT = BASE[BASE.index(b"from packaging") : BASE.index(b"from tqdm")]
THEIRS = BASE.replace(b"import router\n" + IMPORT, b"").replace(b"parse(router.__version__)", b"1")


@pytest.mark.parametrize(
    "ours",
    [
        BASE.replace(b"from packaging", b"# ours\nfrom packaging"),
        BASE.replace(b"import router\n", b"import router  # ours\n"),
        BASE.replace(b"    parse,\n", b"    parse,  # ours\n"),
        BASE.replace(b"    parse,\n", b"    parse,\n    ours,\n"),
    ],
)
def test_a_remark_on_a_deleted_import_is_a_conflict(ours):
    merged = merge_file("x.py", BASE, ours, THEIRS)
    assert b"ours" in merged.final and merged.conflicts


def test_an_import_without_remarks_goes():
    ours = BASE.replace(b"import os\n", b"import os\nimport sys\n")
    merged = merge_file("x.py", BASE, ours, THEIRS)
    assert not merged.conflicts and merged.final == THEIRS.replace(b"import os\n", b"import os\nimport sys\n")
