"""Memory that a trainer and workers share: every process is a real one."""

import functools
import multiprocessing
import socket
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.distributed")

from vime.backends.megatron_utils.update_weight.plan import plan_weights
from vime.backends.vllm_utils.weight_transfer.gloo_group import PeerLeft, announce, decide, decided, open_store
from vime.backends.vllm_utils.weight_transfer.layout import TensorMeta
from vime.backends.vllm_utils.weight_transfer.shared_memory import Meeting, Memory, can_share, reach

pytestmark = pytest.mark.skipif(not can_share(), reason="this system has no memory without a name")

BUCKETS = plan_weights([TensorMeta(f"t{number}", "int64", (50 * number + 1,)) for number in range(7)], 1).buckets
SOON = 5.0
"""Seconds within which one end must learn that the other is gone."""


def contents(number):
    return torch.arange(BUCKETS[number].nbytes, dtype=torch.int64).mul_(number + 3).to(torch.uint8)


def worker(info, say, take):
    """Take buckets, and say what was in each; `take` of them, then hang with the next one in hand."""
    trainer = reach(info, SOON)
    say.send(trainer is not None)
    for number, (_, buffer, release) in enumerate(trainer.received(BUCKETS)):
        if number == take:
            say.send("hangs")
            time.sleep(60)
        say.send(bytes(buffer.numpy()))
        release()


def trainer(say, workers, places):
    """Send buckets through `places` places, then hang with some under way."""
    with Meeting() as meeting:
        say.send(meeting.info)
        group = meeting.accept(workers, SOON)
    memories = [Memory(BUCKETS[number].nbytes) for number in range(places)]
    for number, memory in enumerate(memories):
        memory.bytes[: BUCKETS[number].nbytes] = contents(number)
        group.send(number, memory, BUCKETS[number].nbytes)
    say.send("hangs")
    time.sleep(60)


@pytest.fixture
def start():
    """Starts a function in a process; (process, what it says)."""
    running = []
    context = multiprocessing.get_context("fork")

    def begin(function, *arguments):
        ours, theirs = context.Pipe()
        process = context.Process(target=functools.partial(function, *arguments), kwargs={"say": theirs}, daemon=True)
        process.start()
        theirs.close()
        running.append(process)
        return process, ours

    yield begin
    for process in running:
        process.kill()
        process.join()


def left_over():
    """Such memory that has a file, or a descriptor or a mapping in this process."""
    named = [path for path in Path("/dev/shm").iterdir() if "vime-weights" in path.name]
    held = [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink() and "vime-w" in str(path.readlink())]
    return named + held + [line for line in Path("/proc/self/maps").read_text().splitlines() if "vime-weights" in line]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_bucket_arrives_at_every_worker_and_places_are_used_again(start, workers):
    with Meeting() as meeting:
        ends = [start(functools.partial(worker, meeting.info, take=None))[1] for _ in range(workers)]
        group = meeting.accept(workers, SOON)
    memories, sent = [Memory(BUCKETS[0].nbytes), Memory(BUCKETS[-1].nbytes)], []
    for number, bucket in enumerate(BUCKETS):
        place = number % 2
        if number >= 2:
            group.wait(sent[number - 2])
        if memories[place].bytes.numel() < bucket.nbytes:
            memories[place] = Memory(bucket.nbytes)
        memories[place].bytes[: bucket.nbytes] = contents(number)
        sent.append(group.send(place, memories[place], bucket.nbytes))
    for number in sent[-2:]:
        group.wait(number)
    for end in ends:
        assert end.recv() is True
        assert [end.recv() for _ in BUCKETS] == [bytes(contents(number).numpy()) for number in range(len(BUCKETS))]


def test_a_worker_that_is_killed_is_noticed_at_once_and_leaves_nothing(start):
    with Meeting() as meeting:
        process, end = start(functools.partial(worker, meeting.info, take=1))
        group = meeting.accept(1, SOON)
    memory = Memory(BUCKETS[0].nbytes)
    group.wait(group.send(0, memory, BUCKETS[0].nbytes))
    under_way = group.send(1, Memory(BUCKETS[1].nbytes), BUCKETS[1].nbytes)
    while end.recv() != "hangs":
        pass
    process.kill()
    began = time.monotonic()
    with pytest.raises(PeerLeft):
        group.wait(under_way)
    with pytest.raises(PeerLeft):
        group.send(0, memory, BUCKETS[0].nbytes)
    assert time.monotonic() - began < SOON
    del group, memory
    assert not left_over()


def test_a_trainer_that_is_killed_is_noticed_at_once_and_leaves_nothing(start):
    process, end = start(functools.partial(trainer, workers=1, places=2))
    arrivals = reach(end.recv(), SOON).received(BUCKETS)
    bucket, buffer, release = next(arrivals)
    assert end.recv() == "hangs"
    process.kill()
    process.join()
    assert torch.equal(buffer, contents(0)), "what came is there as long as it is looked at"
    next(arrivals)
    began = time.monotonic()
    with pytest.raises(PeerLeft):
        next(arrivals)
    with pytest.raises(PeerLeft):
        release()
    assert time.monotonic() - began < SOON
    del arrivals, bucket, buffer, release
    assert not left_over()


def test_closing_frees_a_thread_that_waits():
    from concurrent.futures import ThreadPoolExecutor

    with Meeting() as meeting, ThreadPoolExecutor(1) as pool:
        end = reach(meeting.info, 60)
        group = meeting.accept(1, 60)
        waits = pool.submit(group.wait, group.send(0, Memory(8), 8))
        time.sleep(0.05)
        group.close()
        with pytest.raises(PeerLeft):
            waits.result(SOON)
        end.close()


def test_who_does_not_know_the_secret_is_not_sent_to():
    with Meeting() as meeting:
        stranger = reach({**meeting.info, "secret": "00" * 32}, SOON)
        with pytest.raises(TimeoutError):
            meeting.accept(1, 0.1)
        with pytest.raises(PeerLeft):
            next(stranger.received(BUCKETS))
        silent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        silent.connect(f"\0{meeting.info['name']}")
        ours = reach(meeting.info, SOON)
        began = time.monotonic()
        group = meeting.accept(1, 1.0)
        assert time.monotonic() - began < SOON
        group.send(0, Memory(BUCKETS[0].nbytes), BUCKETS[0].nbytes)
        assert next(ours.received(BUCKETS))[0] == BUCKETS[0]
        silent.close()


def test_strangers_do_not_hold_a_meeting_open():
    with Meeting() as meeting:
        strangers = [reach({**meeting.info, "secret": "00" * 32}, SOON) for _ in range(20)]
        meeting._socket.settimeout(None)
        with pytest.raises(TimeoutError, match="0 of 1 workers"):
            meeting.accept(1, 0.0)
        assert all(strangers)


def test_a_bucket_of_another_size_is_refused():
    with Meeting() as meeting:
        end = reach(meeting.info, SOON)
        group = meeting.accept(1, SOON)
        group.send(0, Memory(64), 64)
        with pytest.raises(ValueError, match="64 bytes"):
            next(end.received(BUCKETS))


@pytest.mark.parametrize("info", [None, {"name": "no such trainer", "secret": "00"}])
def test_a_worker_of_another_host_finds_nothing(info):
    assert reach(info, SOON) is None


@pytest.mark.parametrize(
    ("shares", "expected"), [((True, True), True), ((True, False), False), ((False, False), False)]
)
def test_memory_is_used_where_all_workers_reached_it(shares, expected):
    store = open_store("127.0.0.1", SOON)
    for rank, reached in enumerate(shares, 1):
        announce(store, rank, reached)
    assert decide(store, 3) is decided(store) is expected
