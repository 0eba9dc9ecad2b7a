"""Many files at once: the largest first, over a few processes when that is worth starting them."""

import gc
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait

from sync_tools.translate.result import Translation

Translate = Callable[[str, bytes], Translation]
Known = Callable[[str, bytes], Translation | None]
FEW_FILES, FEW_BYTES, CHUNK = 16, 400_000, 4


def _nothing(path: str, data: bytes) -> None:
    return None


def translate_many(
    translate: Translate, items: Iterable[tuple[str, bytes]], workers: int, known: Known = _nothing
) -> dict[str, Translation]:
    """The translations by path, in the order of `items`. An exception in a worker is raised here."""
    return {path: found for (path, _), found in translate_all(translate, items, workers, known).items()}


def translate_all(
    translate: Translate, items: Iterable[tuple[str, bytes]], workers: int, known: Known = _nothing
) -> dict[tuple[str, bytes], Translation]:
    """As `translate_many`, of files that may have several versions; what is `known` costs no process."""
    with translating(translate, items, workers, known) as done:
        return done()


@contextmanager
def translating(
    translate: Translate, items: Iterable[tuple[str, bytes]], workers: int, known: Known = _nothing
) -> Iterator[Callable[[], dict[tuple[str, bytes], Translation]]]:
    """Begin as `translate_all`; what is yielded waits for the end. Other processes translate meanwhile, where there is
    enough to do for them."""
    found = {item: known(*item) for item in items}
    left = [item for item, translation in found.items() if translation is None]
    with _making(translate, left, workers) as made:

        def done() -> dict[tuple[str, bytes], Translation]:
            rest = dict(made)
            return {item: translation or rest[item] for item, translation in found.items()}

        yield done


@contextmanager
def _making(
    translate: Translate, items: Sequence[tuple[str, bytes]], workers: int
) -> Iterator[Iterator[tuple[tuple[str, bytes], Translation]]]:
    small = len(items) <= FEW_FILES or sum(len(data) for _, data in items) <= FEW_BYTES
    if workers < 2 or small:
        yield (((path, data), translate(path, data)) for path, data in items)
        return
    ordered = sorted(items, key=lambda item: -len(item[1]))
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=begin) as pool:
        paths, datas = zip(*ordered)
        try:
            yield zip(ordered, pool.map(translate, paths, datas, chunksize=CHUNK))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # of what nobody waits for any more


def begin() -> None:
    """A worker lives for one run, and no longer than it: what it inherited is never garbage."""
    gc.freeze()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Workers hold the queue's other end themselves, so that a parent that is killed would never be noticed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
