"""Many files at once: the largest first, over a few processes when that is worth starting them."""

import gc
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

from sync_tools.translate.result import Translation

Translate = Callable[[str, bytes], Translation]
FEW_FILES, FEW_BYTES, CHUNK = 16, 400_000, 4


def translate_many(translate: Translate, items: Sequence[tuple[str, bytes]], workers: int) -> dict[str, Translation]:
    """The translations by path, in the order of `items`. An exception in a worker is raised here."""
    small = len(items) <= FEW_FILES or sum(len(data) for _, data in items) <= FEW_BYTES
    if workers < 2 or small:
        return {path: translate(path, data) for path, data in items}
    ordered = sorted(items, key=lambda item: -len(item[1]))
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin) as pool:
        paths, datas = zip(*ordered)
        done = dict(zip(paths, pool.map(translate, paths, datas, chunksize=CHUNK)))
    return {path: done[path] for path, _ in items}


def _begin() -> None:
    """A worker lives for one run: what it inherited is never garbage."""
    gc.freeze()
