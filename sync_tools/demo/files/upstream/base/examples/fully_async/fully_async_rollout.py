import asyncio
import atexit
import queue
import threading
import time

from slime.rollout.sglang_rollout import GenerateState, generate_and_rm_group
from slime.utils.async_utils import run
from slime.utils.types import Sample

worker = None
worker_lock = threading.Lock()


def get_worker(args, data_buffer):
    global worker
    with worker_lock:
        if worker is None or not worker.thread.is_alive():
            worker = AsyncRolloutWorker(args, data_buffer)
            worker.start()
    return worker


def stop_worker():
    with worker_lock:
        if worker is not None:
            worker.stop()


class AsyncRolloutWorker:
    """Keeps rollout_batch_size groups in the works, whoever waits for them."""

    def __init__(self, args, data_buffer):
        self.args = args
        self.data_buffer = data_buffer
        self.done = queue.Queue()
        self.running = True
        self.state = GenerateState(args)
        self.thread = threading.Thread(target=lambda: asyncio.run(self.loop()), daemon=True)

    def start(self):
        self.thread.start()

    def stop(self):
        self.running = False
        self.thread.join(timeout=5)

    async def loop(self):
        tasks = set()
        number = 0
        while self.running:
            tasks = {task for task in tasks if not task.done()}
            while len(tasks) < self.args.rollout_batch_size:
                for group in self.data_buffer.get_samples(1):
                    params = self.state.sampling_params.copy()
                    task = asyncio.create_task(generate_and_rm_group(self.args, group, sampling_params=params))
                    task.add_done_callback(lambda t, n=number: self.done.put((n, t.result())))
                    tasks.add(task)
                    number += 1
            await asyncio.sleep(1)

    def take(self):
        taken = []
        while not self.done.empty():
            taken.append(self.done.get_nowait())
        return taken


async def generate_rollout_async(args, rollout_id, data_buffer):
    source = get_worker(args, data_buffer)
    started = time.time()
    data = []
    while len(data) < args.rollout_batch_size:
        ready = source.take()
        for number, group in ready:
            if any(sample.status == Sample.Status.ABORTED for sample in group):
                print(f"group {number} was aborted and goes back to the buffer")
                data_buffer.add_samples([group])
            else:
                data.append(group)
        if not ready:
            await asyncio.sleep(0.01)
    print(f"rollout {rollout_id}: {len(data)} groups in {time.time() - started:.1f} s")
    return sorted(data, key=lambda group: group[0].index)


def generate_rollout_fully_async(args, rollout_id, data_buffer, evaluation=False):
    if evaluation:
        raise ValueError("the fully asynchronous rollout has no evaluation")
    return run(generate_rollout_async(args, rollout_id, data_buffer))


atexit.register(stop_worker)
