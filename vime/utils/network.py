"""Ports, addresses and child processes of this host. Standard library only."""

import ipaddress
import multiprocessing
import os
import random
import socket

VIME_HOST_IP_ENV = "VIME_HOST_IP"
_PREFER_IPV6_ENV = "VIME_PREFER_IPV6"
_HIGHEST_PORT = 60_000


def is_port_available(port: int) -> bool:
    """Whether a TCP server could listen on `port` now; False for a number that is no port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
            probe.listen(1)
        except (OSError, OverflowError):
            return False
    return True


def find_available_port(base_port: int) -> int:
    """A free port above `base_port`, at a random distance so that parallel launches seldom meet."""
    start = base_port + random.randint(100, 1000)
    above, below = range(start, _HIGHEST_PORT, 42), range(min(start, _HIGHEST_PORT), 1024, -43)
    for candidates in (above, below):
        for port in candidates:
            if is_port_available(port):
                return port
    raise OSError(f"no free port near {base_port}")


def get_free_port(start_port: int = 10_000, consecutive: int = 1) -> int:
    """The first port from `start_port` on that begins `consecutive` free ones."""
    for port in range(start_port, 65_536 - consecutive):
        if all(is_port_available(port + i) for i in range(consecutive)):
            return port
    raise OSError(f"no {consecutive} consecutive free ports from {start_port} on")


def get_host_info() -> tuple[str, str]:
    """This host's name and the address at which others reach it.

    `VIME_HOST_IP` decides where it is set; otherwise the address of the route to the outside, then what the name
    resolves to, then loopback. IPv4 unless `VIME_PREFER_IPV6` is true; the two families are never mixed.
    """
    name = socket.gethostname()
    if forced := os.environ.get(VIME_HOST_IP_ENV):
        return name, forced
    if os.environ.get(_PREFER_IPV6_ENV, "").lower() in {"1", "true", "yes", "on"}:
        return name, _lan_address(name, socket.AF_INET6, "2001:db8::1") or "::1"
    return name, _lan_address(name, socket.AF_INET, "192.0.2.1") or "127.0.0.1"


def address_towards(host: str) -> str:
    """This host's address on the way to `host`, which reaches it there. Raises OSError where there is no way."""
    family, kind, protocol, _, where = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(where)  # sends nothing, as below
        return probe.getsockname()[0]


def _lan_address(name: str, family: socket.AddressFamily, outside: str) -> str | None:
    for candidates in (_routed_address, _resolved_addresses):
        for address in candidates(name, family, outside):
            if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
                return address
    return None


def _routed_address(name: str, family: socket.AddressFamily, outside: str) -> list[str]:
    # Connecting a datagram socket sends nothing: it only asks the routing table which address would be used.
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((outside, 9))
            return [probe.getsockname()[0]]
    except OSError:
        return []


def _resolved_addresses(name: str, family: socket.AddressFamily, outside: str) -> list[str]:
    try:
        return [entry[4][0] for entry in socket.getaddrinfo(name, None, family=family, type=socket.SOCK_STREAM)]
    except OSError:
        return []


def wrap_ipv6(host: str) -> str:
    """`host` as it stands in a URL: an IPv6 address in brackets, anything else unchanged."""
    bare = host.strip("[]")
    try:
        ipaddress.IPv6Address(bare)
    except ipaddress.AddressValueError:
        return host
    return f"[{bare}]"


def terminate_process(process: multiprocessing.Process, timeout: float = 1.0) -> None:
    """End `process`: asked first, killed after `timeout` seconds; it is gone when this returns."""
    if not process.is_alive():
        return
    process.terminate()
    process.join(timeout)
    if process.is_alive():
        process.kill()
        process.join()
