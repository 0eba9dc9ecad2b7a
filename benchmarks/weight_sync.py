"""Weight sync to a real vLLM server on a CPU, against a plain gloo broadcast of the same bytes.

The numerator is the model's bytes (values only) divided by the time from the pause to the answer to the last control call,
of `WeightSync.update`; the denominator the same bytes broadcast to one process that only receives, in the same buckets, in
the same run. Both are the best of several rounds, taken in turns, after some that touch memory first. The sync goes through
shared memory, as it does on one host, the denominator over gloo's TCP on the loopback; `--over-gloo` has the sync go there, too.
Beside it: the seconds of each step, and those that vLLM's own packing of the linear layers takes alone on one core (oneDNN, which
no transport avoids). Prints JSON.

    python benchmarks/weight_sync.py [--rounds 10] [--hidden 1024] [--layers 6]
"""

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

VOCAB = 16_000
WANTED = 0.6
FIRST = 4


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--bucket-bytes", type=int, default=32 * 1024**2)
    parser.add_argument("--over-gloo", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        print(json.dumps(measure(Path(folder), asked), indent=2))


def measure(folder: Path, asked: argparse.Namespace) -> dict:
    """All figures."""
    import torch

    from vime.backends.megatron_utils.update_weight.plan import describe, plan_weights
    from vime.backends.megatron_utils.update_weight.session import WeightSync
    from vime.backends.megatron_utils.update_weight.transports.gloo import GlooTransport
    from vime.backends.vllm_utils.launch import engine_launch
    from vime.backends.vllm_utils.server import EngineServer
    from vime.utils.network import get_free_port

    torch.set_num_threads(1)
    tensors = list(model(folder / "model", asked).named_parameters())
    server = EngineServer(engine_launch(config(folder / "model"), port=get_free_port(26_000)), folder / "server.log")
    server.start()
    try:
        server.wait_healthy(300)
        transport = GlooTransport(share=not asked.over_gloo)
        transport.bucket_limit = asked.bucket_bytes
        sync = WeightSync([server.url], transport)
        plan = plan_weights(describe(tensors), sync.bucket_bytes)
        sync.connect()
        reports, plain = [], []
        with receiver([bucket.nbytes for bucket in plan.buckets], asked.rounds + FIRST) as broadcast:
            for number in range(asked.rounds + FIRST):
                reports.append(sync.update(tensors, plan, str(number)))
                plain.append(broadcast())
        sync.close()
    finally:
        server.stop()
    synced, sent = [one.seconds for one in reports], [one.step_seconds["send"] for one in reports]
    best, least = min(synced[FIRST:]), min(plain[FIRST:])
    return {
        "model_bytes": plan.nbytes,
        "buckets": len(plan.buckets),
        "sync_seconds": [round(one, 3) for one in synced],
        "step_seconds_of_the_best": _rounded(min(reports[FIRST:], key=lambda one: one.seconds).step_seconds),
        "send_seconds": [round(one, 3) for one in sent],
        "plain_gloo_seconds": [round(one, 3) for one in plain],
        "sync_bytes_per_second": round(plan.nbytes / best),
        "plain_gloo_bytes_per_second": round(plan.nbytes / least),
        "ratio": round(least / best, 3),
        "ratio_of_the_send_alone": round(least / min(sent[FIRST:]), 3),
        "median_ratio": round(statistics.median(p / s for p, s in zip(plain[FIRST:], synced[FIRST:], strict=True)), 3),
        "packing_alone_seconds": round(packing(tensors, asked.rounds), 3),
        "wanted": WANTED,
        "load": [round(one, 1) for one in os.getloadavg()],
    }


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(one, 4) for name, one in seconds.items()}


def packing(tensors: list, rounds: int) -> float:
    """Seconds that vLLM needs to pack every matrix but the embedding, as its CPU layers do after a load; the best."""
    from vllm._custom_ops import create_onednn_mm

    matrices = [one for name, one in tensors if one.dim() == 2 and "embed" not in name]
    best = float("inf")
    for _ in range(rounds):
        began = time.monotonic()
        for matrix in matrices:
            create_onednn_mm(matrix.t(), 32)
        best = min(best, time.monotonic() - began)
    return best


def model(folder: Path, asked: argparse.Namespace):
    """A Qwen3 of random weights, in float32, saved to `folder`."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    shape = {"hidden_size": asked.hidden, "num_hidden_layers": asked.layers, "num_attention_heads": 16}
    shape |= {"num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 3 * asked.hidden}
    made = Qwen3ForCausalLM(
        Qwen3Config(vocab_size=VOCAB, max_position_embeddings=512, tie_word_embeddings=False, **shape)
    )
    made = made.float().requires_grad_(False)
    made.save_pretrained(folder)
    return made


def config(folder: Path):
    """What serves it."""
    from vime.config.packages import schema
    from vime.config.resolve import resolve

    flags = [f"--hf-checkpoint={folder}", "--device=cpu", "--actor-num-gpus-per-node=1", "--rollout-batch-size=1"]
    flags += ["--num-rollout=1", "--prompt-data=x", "--rollout-max-response-len=8", "--vllm-skip-tokenizer-init"]
    return resolve(flags, [], schema())


class receiver:
    """A process that receives buckets of these sizes so many times; call it for the seconds of one time."""

    def __init__(self, sizes: list[int], rounds: int) -> None:
        self._sizes, self._rounds = sizes, rounds

    def __enter__(self):
        from vime.backends.vllm_utils.weight_transfer.gloo_group import join, open_store

        store = open_store("127.0.0.1", 60)
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_receive, args=(store.port, self._sizes, self._rounds))
        self._process.start()
        self._group = join(store, 0, 2, 60)
        self._buffers = _buffers(self._sizes)
        return self._broadcast

    def _broadcast(self) -> float:
        began = time.monotonic()
        for work in [self._group.broadcast(buffer) for buffer in self._buffers]:
            self._group.wait(work)
        return time.monotonic() - began

    def __exit__(self, *failure: object) -> None:
        self._process.join(10)
        self._process.kill()
        self._group.close()


def _receive(port: int, sizes: list[int], rounds: int) -> None:
    from vime.backends.vllm_utils.weight_transfer.gloo_group import join, reach_store

    group = join(reach_store("127.0.0.1", port, 60), 1, 2, 60)
    buffers = _buffers(sizes)
    for _ in range(rounds):
        for work in [group.broadcast(buffer) for buffer in buffers]:
            group.wait(work)


def _buffers(sizes: list[int]) -> list:
    import torch

    return [torch.ones(size, dtype=torch.uint8) for size in sizes]


if __name__ == "__main__":
    main()
