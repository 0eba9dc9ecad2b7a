"""Runs made up for the tests of the log and of the report."""

import math
import random
from pathlib import Path

from vime.observability.run_log import RunLog
from vime.utils.types import Sample, Status

PIECES = ["<|im_start|>", "user", "\n", "1", "2", "3", "?", "<|im_end|>", "\n", "<|im_start|>", "assistant", "\n"]


def sample(digits: str, said: str, reward: float, draw: random.Random, index: int = 0) -> Sample:
    """A finished sample of the quick start's task, with made-up logprobs."""
    length = len(said) + 1
    return Sample(
        group_index=index // 8,
        index=index,
        prompt=[{"role": "user", "content": digits + "?"}],
        tokens=list(range(len(PIECES) + length)),
        response=said,
        response_length=length,
        label=digits[::-1],
        reward=reward,
        loss_mask=[1] * length,
        weight_versions=[str(index // 64)],
        rollout_log_probs=[-draw.expovariate(1.2 if reward == 0 else 8) for _ in range(length)],
        status=Status.COMPLETED,
    )


def pieces_of(digits: str, said: str) -> list[str]:
    return [*PIECES[:3], *digits, *PIECES[6:], *said, "<|im_end|>"]


def learned(folder: Path, steps: int = 80, seed: int = 0) -> RunLog:
    """A run that learns, with every figure the loop logs, evaluated every 20 rollouts."""
    draw, log, now = random.Random(seed), None, [1_790_000_000.0]
    log = RunLog(folder, clock=lambda: now[0])
    log.event("start", engine="http://127.0.0.1:9000")
    for step in range(steps + 1):
        share = 0.3 + 0.68 / (1 + math.exp(-(step - 12) / 4))
        if step % 20 == 0:
            score = min(1.0, max(0.1, round((share - 0.3) / 0.68 * 200) / 200))
            log.log(
                {"eval/rev3": score, "eval/rev3/response_len/mean": 4.0, "eval/rev3-truncated_ratio": 0.0},
                "eval/step",
                step,
            )
            rows = [sample("123", "321", 1.0, draw, number) for number in range(8)]
            log.evaluation(step, {"rev3": rows}, lambda ids: pieces_of("123", "321"))
        if step == steps:
            break
        now[0] += 0.3
        log.log(
            {
                "rollout/raw_reward": min(1.0, share + draw.gauss(0, 0.03)),
                "rollout/response_len/mean": 4.0 + abs(draw.gauss(0, 0.05)),
                "rollout/response_len/max": draw.choice([4.0, 4.0, 5.0, 8.0]),
                "rollout/response_len/min": 4.0,
                "rollout/truncated_ratio": abs(draw.gauss(0, 0.003)),
                "rollout/aborted_ratio": 0.0,
                "rollout/repetition_frac": 0.0,
                "perf/rollout_time": 0.11 + draw.random() * 0.02,
                "perf/log_probs_time": 0.03 + draw.random() * 0.01,
                "perf/actor_train_time": 0.07 + draw.random() * 0.02,
                "perf/update_weights_time": 0.05 + draw.random() * 0.01,
                "perf/step_time": 0.32,
                "perf/tokens_per_gpu_per_sec": 4500 + draw.gauss(0, 200),
                "perf/actor_train_tok_per_s": 21000 + draw.gauss(0, 900),
            },
            "rollout/step",
            step,
        )
        log.log(
            {
                "train/loss": draw.gauss(0, 0.02),
                "train/pg_loss": draw.gauss(0, 0.02),
                "train/entropy_loss": 0.45 * math.exp(-step / 20) + 0.02,
                "train/ppo_kl": abs(draw.gauss(0, 1e-7)),
                "train/grad_norm": math.exp(draw.gauss(-0.5, 1.0)),
                "train/pg_clipfrac": 0.0,
                "train/train_rollout_logprob_abs_diff": 5e-8 * math.exp(draw.gauss(0, 0.3)),
                "train/train_rollout_logprob_abs_diff_max": 8e-6 * math.exp(draw.gauss(0, 0.8)),
                "train/lr-pg_0": 1e-3 * (1 - step / steps),
            },
            "train/step",
            step,
        )
        rows, texts = [], []
        for number in range(16):
            digits = f"{draw.randrange(1000):03d}"
            said = digits[::-1] if draw.random() < share else digits
            rows.append(sample(digits, said, float(said == digits[::-1]), draw, number))
            texts.append(pieces_of(digits, said))
        turn = iter(texts)
        log.samples(step, rows, lambda ids, turn=turn: next(turn))
    log.event("stop", reason="the last rollout is done")
    return log
