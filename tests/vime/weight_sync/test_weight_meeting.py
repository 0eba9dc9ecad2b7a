"""Where trainer and engine meet: on either family of addresses, nowhere else than told, whoever else knocks."""

import os
import socket
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.distributed")

from vime.backends.vllm_utils.weight_transfer.gloo_group import (
    all_here,
    announce,
    decide,
    decided,
    join,
    open_store,
    reach_store,
)
from vime.utils.network import address_towards


def _has(address):
    try:
        socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET).close()
    except OSError:
        return False
    return True


FAMILIES = [
    pytest.param(address, marks=pytest.mark.skipif(not _has(address), reason=f"this host has no {address}"))
    for address in ("127.0.0.1", "::1")
]


def meet(store):
    """A broadcast of three bytes from rank 0 to a worker in a thread, which takes the address and port alone; what came."""

    def worker():
        other = reach_store(store.host, store.port, 10)
        announce(other, 1)
        assert not decided(other)
        group = join(other, 1, 2, 10)
        buffer = torch.zeros(3, dtype=torch.uint8)
        group.wait(group.broadcast(buffer))
        came.append(buffer.tolist())
        group.close()

    came = []
    thread = threading.Thread(target=worker)
    thread.start()
    while not all_here(store, 2):
        assert thread.is_alive()
    decide(store, 2)
    group = join(store, 0, 2, 10)
    group.wait(group.broadcast(torch.tensor([1, 2, 3], dtype=torch.uint8)))
    thread.join(10)
    group.close()
    return came


@pytest.mark.parametrize("address", FAMILIES)
def test_a_group_forms_on_either_family(address, monkeypatch):
    """Whatever proxy the environment names."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:9")
    assert address_towards(address) == address
    assert meet(open_store(address, 10)) == [[1, 2, 3]]


@pytest.mark.parametrize("address", FAMILIES)
def test_strangers_at_the_meeting_point_do_no_harm(address):
    """Whether they talk nonsense, or nothing at all."""
    store = open_store(address, 10)
    strangers = []
    for said in (b"GET / HTTP/1.1\r\n\r\n", bytes(1000), bytes(range(256)), b"\x05", b""):
        strangers.append(socket.create_connection((address, store.port)))
        strangers[-1].sendall(said)
    assert meet(store) == [[1, 2, 3]]
    for one in strangers:
        one.close()


def test_nobody_meets_a_trainer_on_loopback_from_outside():
    store = open_store("127.0.0.1", 10)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", store.port))


def test_no_descriptor_is_left():
    def rendezvous():
        assert meet(open_store("127.0.0.1", 10))

    rendezvous()
    before = len(list(Path(f"/proc/{os.getpid()}/fd").iterdir()))
    for _ in range(5):
        rendezvous()
    assert len(list(Path(f"/proc/{os.getpid()}/fd").iterdir())) <= before + 2
