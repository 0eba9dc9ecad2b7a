"""What a second process reads ahead is what this one would have read."""

from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.gitio import GitFailed, Repo
from sync_tools.port.ahead import reading
from sync_tools.translate import Translator
from sync_tools.upstream.collect import collect
from sync_tools.upstream.history import messages
from sync_tools.upstream.resolve import Landing


@pytest.fixture
def landings(upstream: Path) -> list[Landing]:
    return [Landing(None, m.commit) for m in reversed(messages(Repo.open(upstream), "main"))][1:]


def test_changes_are_those_of_collect_and_their_translations_are_kept(upstream, landings, tmp_path):
    repo, cache = Repo.open(upstream), tmp_path / "cache"
    with reading(repo, landings, Translator(Config(), "module", cache)) as read:
        for landing in landings:
            assert read(landing) == read(landing) == collect(repo, landing)
    assert any(cache.rglob("*"))


def test_what_fails_there_fails_here_where_it_is_asked_for(upstream, landings, tmp_path):
    repo, bad = Repo.open(upstream), Landing(None, "1" * 40)
    with reading(repo, [*landings[:3], bad, *landings[3:]], Translator(Config(), "module", tmp_path)) as read:
        for landing in landings[:3]:
            assert read(landing).commit == landing.commit
        with pytest.raises(GitFailed):
            read(bad)
        assert read(landings[3]).commit == landings[3].commit


def test_a_process_that_dies_is_done_without(upstream, landings, tmp_path, monkeypatch):
    monkeypatch.setattr("sync_tools.port.ahead.begin", lambda: exit(1))
    repo = Repo.open(upstream)
    with reading(repo, landings, Translator(Config(), "module", tmp_path)) as read:
        assert [read(x).commit for x in landings] == [x.commit for x in landings]


def test_few_changes_or_no_cache_take_no_process(upstream, landings, tmp_path, monkeypatch):
    monkeypatch.setattr("sync_tools.port.ahead.multiprocessing.get_context", None)
    repo = Repo.open(upstream)
    for some, cache in ((landings[:2], tmp_path), (landings, None)):
        with reading(repo, some, Translator(Config(), "module", cache)) as read:
            assert [read(x).commit for x in some] == [x.commit for x in some]
