"""Calls from an event loop: no more at once than there are places, and what is cancelled ends."""

import asyncio
import threading
import time

import pytest
from sandbox_world import descendants, started

from vime.sandbox import Limits


@pytest.fixture(scope="module", params=["namespaces", "rlimits"])
def mode(request):
    with started(request.param):
        return request.param


@pytest.mark.parametrize("places", [1, 3])
def test_as_many_at_once_as_there_are_places(mode, places, tmp_path):
    code = "import time; t = time.time(); time.sleep(.2); print(t, time.time())"

    async def all_of_them(sandbox):
        return await asyncio.gather(*(sandbox.run_async(code) for _ in range(3 * places)))

    with started(mode, places=places) as sandbox:
        asyncio.run(all_of_them(sandbox))  # starts the others
        spans = [tuple(map(float, result.stdout.split())) for result in asyncio.run(all_of_them(sandbox))]
        synchronous = threading.Thread(target=sandbox.run, args=(code,))
        synchronous.start()
        synchronous.join()
    at_once = [sum(start <= begin < end for start, end in spans) for begin, _ in spans]
    assert max(at_once) <= places and (places == 1 or max(at_once) > 1), spans


def test_cancelling_ends_the_code_and_frees_the_place(mode):
    async def go(sandbox):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(sandbox.run_async("import time; time.sleep(60)", limits=Limits(wall=60)), 0.5)
        started_at = time.perf_counter()
        result = await sandbox.run_async("print(1)")
        return result, time.perf_counter() - started_at

    with started(mode, places=1) as sandbox:
        result, seconds = asyncio.run(go(sandbox))
    assert result.ok and seconds < 5


def test_a_call_that_is_cancelled_while_it_waits_never_runs(mode, tmp_path):
    async def go(sandbox):
        first = asyncio.create_task(sandbox.run_async("import time; time.sleep(.5); print(1)"))
        await asyncio.sleep(0.05)
        waiting = [asyncio.create_task(sandbox.run_async("import time; time.sleep(5)")) for _ in range(20)]
        await asyncio.sleep(0.05)
        for task in waiting:
            task.cancel()
        assert all(
            isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*waiting, return_exceptions=True)
        )
        return await first, await sandbox.run_async("print(2)")

    with started(mode, places=1) as sandbox:
        first, last = asyncio.run(go(sandbox))
    assert first.stdout == "1\n" and last.stdout == "2\n"


def test_one_sandbox_serves_one_loop_after_another_and_leaves_nothing(mode):
    before = set(descendants_of_this())
    with started(mode, places=2) as sandbox:
        for turn in range(3):
            assert asyncio.run(sandbox.run_async(f"print({turn})")).stdout == f"{turn}\n"
    assert set(descendants_of_this()) <= before


def descendants_of_this():
    import os

    return descendants(os.getpid())
