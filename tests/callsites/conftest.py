"""The translator."""

import pytest

from sync_tools.translate import Translator


@pytest.fixture(scope="session")
def translate():
    """(path, bytes) to a Translation, in the seam style `module`."""
    return Translator(style="module").file
