"""A step of the trainer beside the same work written bare on Megatron-core.

The work is a logprob pass over a rollout and one update on it (policy gradient with the clipped surrogate, gradient clipping,
Adam): what reaches the weights is the same, which is checked. Bare is the same GPTModel, `F.cross_entropy`,
`get_megatron_optimizer`, torch's clipping, and nothing else: no checks, no metrics, no entropy. Both take the same packs.
The figure is seconds of ours / seconds of bare, the two run in turn, over the medians; wanted: at most 1.15.
"""

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from megatron.core.distributed import finalize_model_grads
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from transformers import AutoConfig, AutoModelForCausalLM

from vime.backends.megatron_utils.actor import MegatronTrainRayActor
from vime.backends.megatron_utils.data import to_tensors
from vime.backends.megatron_utils.forward import forward_logits
from vime.backends.megatron_utils.model_provider import build_model, data_parallel
from vime.backends.megatron_utils.packing import PackedBatch, pack
from vime.backends.megatron_utils.weights import load_hf
from vime.config.packages import schema
from vime.config.resolve import resolve
from vime.utils.train_share import share_of_rank

WANTED = 1.15
ROUNDS = 9
SETTINGS = {
    "quick start": {
        "hidden": 128,
        "layers": 2,
        "vocab": 128,
        "samples": 128,
        "prompt": 12,
        "response": 5,
        "budget": 4096,
    },
    "long answers": {
        "hidden": 128,
        "layers": 2,
        "vocab": 128,
        "samples": 32,
        "prompt": 20,
        "response": 200,
        "budget": 2048,
    },
    "large vocabulary": {
        "hidden": 256,
        "layers": 2,
        "vocab": 32000,
        "samples": 16,
        "prompt": 20,
        "response": 60,
        "budget": 512,
    },
}


def made_model(folder: Path, hidden: int, layers: int, vocab: int) -> None:
    """A Qwen3-shaped model with random weights."""
    config = AutoConfig.for_model(
        "qwen3",
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=1024,
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(folder)


def made_args(folder: Path, samples: int, budget: int) -> Any:
    """One update a rollout, as the quick start's."""
    words = f"--hf-checkpoint {folder} --device cpu --prompt-data x --num-rollout 1000 --actor-num-gpus-per-node 1"
    words += f" --rollout-batch-size {samples // 8} --n-samples-per-prompt 8 --rollout-max-response-len 256"
    words += f" --use-dynamic-batch-size --max-tokens-per-gpu {budget} --lr 1e-3 --lr-decay-style constant"
    words += " --weight-decay 0 --adam-beta2 0.95 --clip-grad 1.0"
    return resolve(words.split(), [], schema()).args


def made_rollout(samples: int, prompt: int, response: int, vocab: int) -> dict[str, list[Any]]:
    """Samples of random tokens, whose answers are from half to the whole of `response` long."""
    chance = random.Random(0)
    lengths = [chance.randint(-(-response // 2), response) for _ in range(samples)]
    return {
        "tokens": [[chance.randrange(vocab) for _ in range(prompt + length)] for length in lengths],
        "response_lengths": lengths,
        "rewards": [chance.gauss(0, 1) for _ in lengths],
        "sample_indices": list(range(samples)),
        "loss_masks": [[1] * length for length in lengths],
    }


class Bare:
    """The same work without the framework."""

    def __init__(self, args: Any, share: dict[str, Any]) -> None:
        model = build_model(args)
        load_hf(model, args.hf_checkpoint)
        self.model = data_parallel(args, model)[0]
        config = OptimizerConfig(
            optimizer="adam", lr=args.lr, weight_decay=0.0, adam_beta2=0.95, clip_grad=0.0, params_dtype=torch.float32
        )
        self.optimizer = get_megatron_optimizer(config, [self.model])
        self.packs: list[tuple[PackedBatch, torch.Tensor, torch.Tensor]] = []
        for positions in share["micro_batch_indices"]:
            lengths = [share["response_lengths"][i] for i in positions]
            advantages = torch.cat([torch.full((n,), share["rewards"][i]) for i, n in zip(positions, lengths)])
            weights = torch.cat([torch.full((n,), 1 / n / len(share["tokens"])) for n in lengths])
            self.packs.append((pack([share["tokens"][i] for i in positions], lengths), advantages, weights))

    def log_probs(self, packed: PackedBatch) -> torch.Tensor:
        logits = forward_logits(self.model, packed.tokens, packed.position_ids, packed.cu_seqlens, packed.max_seqlen)
        return -F.cross_entropy(logits[packed.rows], packed.targets, reduction="none")

    def log_prob_pass(self) -> list[torch.Tensor]:
        with torch.no_grad():
            return [self.log_probs(packed) for packed, _, _ in self.packs]

    def update(self, old: list[torch.Tensor]) -> None:
        self.model.zero_grad_buffer()
        self.optimizer.zero_grad()
        for (packed, advantages, weights), before in zip(self.packs, old):
            ratio = (self.log_probs(packed) - before).exp()
            loss = torch.maximum(-ratio * advantages, -ratio.clamp(0.8, 1.2) * advantages)
            (loss * weights).sum().backward()
        finalize_model_grads([self.model], None)
        self.optimizer.prepare_grads()
        torch.nn.utils.clip_grad_norm_(self.optimizer.get_parameters(), 1.0)
        self.optimizer.step_with_ready_grads()


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def compare(name: str, folder: Path) -> dict[str, Any]:
    """Ours and bare in turn on one setting."""
    size = SETTINGS[name]
    made_model(folder, size["hidden"], size["layers"], size["vocab"])
    args = made_args(folder, size["samples"], size["budget"])
    rollout = made_rollout(size["samples"], size["prompt"], size["response"], size["vocab"])
    actor = MegatronTrainRayActor()
    actor.init(args)
    try:
        share = to_tensors(share_of_rank(args, rollout, 0, actor.train_parallel_config), "cpu")
        bare = Bare(args, share)
        times: dict[str, list[float]] = {part: [] for part in ("our pass", "our update", "bare pass", "bare update")}
        for _ in range(ROUNDS):
            spent, found = seconds(lambda: actor.compute_log_prob(share))
            times["our pass"].append(spent)
            for position, one in zip(share["partition"], found):
                rollout.setdefault("rollout_log_probs", [[]] * len(found))[position] = one.tolist()
            times["our update"].append(seconds(lambda: actor.train(0, rollout))[0])
            spent, old = seconds(bare.log_prob_pass)
            times["bare pass"].append(spent)
            times["bare update"].append(seconds(lambda old=old: bare.update(old))[0])
        ours, its = (list(one.parameters()) for one in (actor.trainer.model[0], bare.model))
        apart = max(float((a - b).detach().abs().max()) for a, b in zip(ours, its))
    finally:
        actor.close()
    middle = {part: statistics.median(found) for part, found in times.items()}
    ratio = (middle["our pass"] + middle["our update"]) / (middle["bare pass"] + middle["bare update"])
    shown = {part: round(1000 * value, 2) for part, value in middle.items()}
    return {"setting": name, "milliseconds": shown, "weights apart": apart, "ratio": round(ratio, 3), "wanted": WANTED}


def main() -> int:
    torch.set_num_threads(1)
    worst = 0.0
    for name in SETTINGS:
        with tempfile.TemporaryDirectory() as folder:
            row = compare(name, Path(folder))
        print(json.dumps(row), flush=True)
        worst = max(worst, row["ratio"])
    return int(worst > WANTED)


if __name__ == "__main__":
    sys.exit(main())
