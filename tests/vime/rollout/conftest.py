"""Worlds that several files of tests here begin in."""

from functools import partial

import pytest
from async_world import make_world, virtual


@pytest.fixture
def virtual_world(tmp_path, monkeypatch):
    """Makes `args`, a source and engines of the fully-async rollout, in virtual time: see async_world.make_world."""
    virtual(monkeypatch)
    return partial(make_world, tmp_path)
