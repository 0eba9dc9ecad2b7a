"""The warm start: a tiny Qwen3 learns from demonstrations of which most are wrong, so that there is something to unlearn."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import rev3
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.utils.logging import disable_progress_bar

STEPS, BATCH, LEARNING_RATE, WARMUP = 200, 128, 2e-3, 20
ANSWER_LENGTH = 4
"""Three digits and the end."""

Progress = Callable[[int, float], None]
"""Is told the step and its loss."""


def fresh_model(config: Path, tied: bool, seed: int) -> Qwen3ForCausalLM:
    """A model of the shape in the file `config`, float32, with random weights."""
    disable_progress_bar()
    torch.manual_seed(seed)
    shape = json.loads(config.read_text("utf-8")) | {"tie_word_embeddings": tied}
    ids = rev3.vocabulary()
    shape |= {"eos_token_id": ids[rev3.END], "pad_token_id": ids[rev3.END_OF_TEXT], "bos_token_id": None}
    return Qwen3ForCausalLM(Qwen3Config(**shape, dtype="float32")).float()


def learn(model: Qwen3ForCausalLM, questions: tuple[str, ...], seed: int, tell: Progress) -> None:
    """Supervised steps on demonstrations of `questions`; the loss is over the answers only. One thread: two are slower."""
    torch.set_num_threads(1)
    draw, end = random.Random(seed), rev3.vocabulary()[rev3.END]
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.95), weight_decay=0.0)
    model.train()
    for step in range(STEPS):
        shown = rev3.demonstrations(questions, BATCH, draw)
        rows = [[*rev3.prompt_ids(digits), *rev3.encode(given), end] for digits, given in shown]
        tokens = torch.tensor(rows)
        logits = model(input_ids=tokens).logits[:, -ANSWER_LENGTH - 1 : -1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, -ANSWER_LENGTH:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, (step + 1) / WARMUP, 2 * (1 - step / STEPS))
        optimizer.step()
        tell(step + 1, loss.item())


@torch.no_grad()
def answers(model: Qwen3ForCausalLM, questions: tuple[str, ...], sampled: bool = False) -> list[list[int]]:
    """The model's answers, as ids: the likeliest tokens, or drawn ones."""
    model.eval()
    tokens = torch.tensor([rev3.prompt_ids(digits) for digits in questions])
    for _ in range(ANSWER_LENGTH):
        logits = model(input_ids=tokens).logits[:, -1]
        drawn = torch.multinomial(logits.softmax(-1), 1) if sampled else logits.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, drawn], dim=1)
    return tokens[:, -ANSWER_LENGTH:].tolist()


def accuracy(model: Qwen3ForCausalLM, questions: tuple[str, ...], sampled: bool = False) -> float:
    """The share that is answered exactly, the end included."""
    end = rev3.vocabulary()[rev3.END]
    right = [[*rev3.encode(rev3.answer(digits)), end] for digits in questions]
    return sum(given == want for given, want in zip(answers(model, questions, sampled), right)) / len(questions)
