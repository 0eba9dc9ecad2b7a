import asyncio
import atexit
import queue
import threading
import time

from vime.rollout.vllm_rollout import GenerateState, generate_and_rm_group
from vime.utils.async_utils import run
from vime.utils.types import Sample

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
    """Keeps as many groups in the works as the vLLM servers take requests at a time."""

    def __init__(self, args, data_buffer):
        self.args = args
        self.data_buffer = data_buffer
        self.done = queue.Queue()
        self.running = True
        self.state = GenerateState(args)
        engines = args.rollout_num_gpus // args.rollout_num_gpus_per_engine
        requests = args.vllm_server_concurrency * engines
        self.groups = max(1, requests // args.n_samples_per_prompt)
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
            while len(tasks) < self.groups:
                for group in self.data_buffer.get_samples(1):
                    tasks.add(asyncio.create_task(self.generate(number, group)))
                    number += 1
            await asyncio.sleep(0.2)

    async def generate(self, number, group):
        """A group whose generation fails goes back to the buffer; the loop goes on."""
        params = self.state.sampling_params.copy()
        try:
            finished = await generate_and_rm_group(self.args, group, sampling_params=params)
        except Exception as e:
            print(f"group {number} failed ({e!r}) and goes back to the buffer")
            self.data_buffer.add_samples([group])
        else:
            self.done.put((number, finished))

    def take(self, at_most):
        """What is over a batch stays for the next one."""
        taken = []
        while len(taken) < at_most and not self.done.empty():
            taken.append(self.done.get_nowait())
        return taken


async def generate_rollout_async(args, rollout_id, data_buffer):
    source = get_worker(args, data_buffer)
    started = time.time()
    data = []
    while len(data) < args.rollout_batch_size:
        ready = source.take(args.rollout_batch_size - len(data))
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
