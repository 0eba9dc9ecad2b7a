import asyncio
import json
import logging
import os
import random
import socket

import httpx

logger = logging.getLogger(__name__)

SLIME_HOST_IP_ENV = "SLIME_HOST_IP"

_http_client: httpx.AsyncClient | None = None


def is_port_available(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("", port))
        except (OSError, OverflowError):
            return False
    return True


def find_available_port(base_port: int) -> int:
    for port in range(base_port + random.randint(0, 500), 65536):
        if is_port_available(port):
            return port
    raise RuntimeError(f"no free port above {base_port}")


def get_host_info() -> tuple[str, str]:
    """Name and address of this host; the environment wins over what the resolver says."""
    name = socket.gethostname()
    address = os.environ.get(SLIME_HOST_IP_ENV)
    return name, address or socket.gethostbyname(name)


def init_http_client(args) -> None:
    """One client for every request to the SGLang engines, with as many connections as they serve at a time."""
    global _http_client
    if _http_client is None and args.rollout_num_gpus:
        num_engines = args.rollout_num_gpus // args.rollout_num_gpus_per_engine
        _http_client = httpx.AsyncClient(
            limits=httpx.Limits(max_connections=args.sglang_server_concurrency * num_engines),
            timeout=httpx.Timeout(None),
            trust_env=False,
        )


async def _post(client, url, payload, max_retries=60, headers=None):
    for attempt in range(1, max_retries + 1):
        try:
            response = await client.post(url, json=payload or {}, headers=headers)
            response.raise_for_status()
            content = await response.aread()
            break
        except Exception as e:
            if attempt == max_retries:
                raise
            logger.info(f"post to {url} failed ({e}), attempt {attempt} of {max_retries}")
            await asyncio.sleep(1)
    try:
        return json.loads(content)
    except json.JSONDecodeError:
        return content.decode()


async def post(url, payload, max_retries=60, headers=None):
    return await _post(_http_client, url, payload, max_retries, headers=headers)


async def get(url):
    response = await _http_client.get(url)
    response.raise_for_status()
    return json.loads(await response.aread())
