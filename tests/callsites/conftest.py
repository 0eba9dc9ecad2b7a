"""The translator, where this tree has it."""

import pytest


@pytest.fixture(scope="session")
def translate():
    """(path, bytes) to a Translation, in the seam style `module`."""
    package = pytest.importorskip("sync_tools.translate")
    seam = pytest.importorskip("sync_tools.translate.python")
    if not (hasattr(package, "Translator") and hasattr(seam, "translate_module")):
        pytest.skip("this tree has no translator, or none for requests and answers")
    return package.Translator(style="module").file
