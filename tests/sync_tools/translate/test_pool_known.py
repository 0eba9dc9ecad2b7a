"""What is known already is not translated again, whatever the number of processes."""

import pytest

from sync_tools.translate import Translator
from sync_tools.translate.pool import translate_many
from sync_tools.translate.result import Translation

ITEMS = [(f"{n}.py", b"import slime\n" * 3000) for n in range(40)]


def never(path: str, data: bytes) -> Translation:
    raise AssertionError(path)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_known_is_not_made(workers: int) -> None:
    done = translate_many(never, ITEMS, workers, known=lambda path, data: Translation(path.encode()))
    assert [(path, found.data) for path, found in done.items()] == [(path, path.encode()) for path, _ in ITEMS]


def test_the_rest_is_made_and_the_order_stays() -> None:
    half = dict(ITEMS[::2])
    known = lambda path, data: Translation(b"known") if path in half else None  # noqa: E731
    done = translate_many(lambda path, data: Translation(b"made"), ITEMS, 1, known=known)
    assert list(done) == [path for path, _ in ITEMS]
    assert {path for path, found in done.items() if found.data == b"known"} == set(half)


def test_a_cache_knows_what_it_was_told_and_nothing_else(tmp_path) -> None:
    told, cold = Translator(cache=tmp_path), Translator()
    assert told.known("a.py", b"import slime\n") is None
    made = told.file("a.py", b"import slime\n")
    assert Translator(cache=tmp_path).known("a.py", b"import slime\n") == made
    assert cold.known("a.py", b"import slime\n") is None
    assert told.known("a.md", b"import slime\n") is None
