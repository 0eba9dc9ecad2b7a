"""The translator, where this tree has it."""

import pytest


@pytest.fixture(scope="session")
def translate():
    """(path, bytes) to a Translation, in the seam style `module`."""
    seam = pytest.importorskip("sync_tools.translate.python")
    if not hasattr(seam, "translate_module"):
        pytest.skip("the translation of requests and answers is not in this tree")
    from sync_tools.translate import Translator

    return Translator(style="module").file
