"""A real vLLM server for a benchmark, as the framework starts one, stopped with the block."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(model: Path, *flags: str) -> Iterator[int]:
    """The port of a server of `model` on a CPU; `flags` are more of `vime train`'s."""
    from vime.backends.vllm_utils.launch import engine_launch
    from vime.backends.vllm_utils.server import EngineServer
    from vime.config.packages import schema
    from vime.config.resolve import resolve
    from vime.utils.network import get_free_port

    needed = ("--device=cpu", "--actor-num-gpus-per-node=1", "--rollout-batch-size=1", "--num-rollout=1")
    needed += (f"--hf-checkpoint={model}", "--prompt-data=x", "--rollout-max-response-len=8")
    port = get_free_port(26_000)
    with tempfile.TemporaryDirectory() as folder:
        launch = engine_launch(resolve([*needed, *flags], [], schema()), port=port)
        server = EngineServer(launch, Path(folder) / "server.log")
        server.start()
        try:
            server.wait_healthy(300)
            yield port
        finally:
            server.stop()
