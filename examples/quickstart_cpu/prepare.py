"""Makes what the quick start trains on: data files, tokenizer, and a warm checkpoint in Hugging Face's form.

    python examples/quickstart_cpu/prepare.py --out examples/quickstart_cpu/out

Takes half a minute on one core. Where it was done already, with the same seed, shape and sources, it does nothing.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import sys
import time
from pathlib import Path

import rev3

sys.path.insert(0, str(Path(__file__).parents[1]))

from prepared import STAMP, filled

HERE = Path(__file__).parent
SOURCES = ("prepare.py", "rev3.py", "warm_start.py", "model/config.json")
TOO_GOOD = 0.15
"""Greedy accuracy above which the run would have nothing to show."""


def main(argv: list[str] | None = None) -> int:
    """The exit status. Raises SystemExit where the warm model is right too often already."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "out", help="the folder to fill")
    parser.add_argument("--seed", type=int, default=0, help="of the split, the weights and the demonstrations")
    parser.add_argument("--tied", action="store_true", help="the output layer shares the embedding's weights")
    asked = parser.parse_args(argv)
    inputs = inputs_of(asked.seed, asked.tied)
    before = stamp_in(asked.out)
    if before.get("inputs") == inputs:
        print(f"{asked.out} is ready: greedy accuracy on held-out prompts {before['greedy_accuracy']:.3f}")
        return 0
    begun = time.monotonic()
    with filled(asked.out) as folder:
        measured = fill(folder, asked.seed, asked.tied)
        stamp = {"inputs": inputs, **measured, "seconds": round(time.monotonic() - begun, 1)}
        (folder / STAMP).write_text(json.dumps(stamp, indent=2) + "\n", "utf-8")
        if (right := measured["greedy_accuracy"]) > TOO_GOOD:
            raise SystemExit(f"error: the warm model is right in {right:.3f} already; take another --seed")
    print(f"{asked.out} is ready after {stamp['seconds']} s")
    return 0


def inputs_of(seed: int, tied: bool) -> dict[str, object]:
    """All that decides what is made."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in SOURCES)).hexdigest()
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers")}
    return {"seed": seed, "tied": tied, "sources": digest, "versions": versions}


def stamp_in(folder: Path) -> dict:
    """What an earlier run wrote down; nothing where there was none."""
    try:
        return json.loads((folder / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def fill(folder: Path, seed: int, tied: bool) -> dict[str, float]:
    """Write everything into a new folder; what was measured of the model."""
    questions = rev3.split(seed)
    warm = folder / "warm"
    warm.mkdir()
    (folder / "train.jsonl").write_text(rev3.lines(questions.train), "utf-8")
    (folder / "heldout.jsonl").write_text(rev3.lines(questions.held_out), "utf-8")
    rev3.save_tokenizer(warm)
    print(f"{len(questions.train)} prompts to train on, {len(questions.held_out)} held out", flush=True)
    return train(warm, questions, seed, tied)


def train(warm: Path, questions: rev3.Split, seed: int, tied: bool) -> dict[str, float]:
    """The warm start, saved; the shares of right answers to the prompts held out."""
    os.environ["OMP_NUM_THREADS"] = "1"
    print("loading torch and transformers ...", flush=True)
    import warm_start

    begun = time.monotonic()
    model = warm_start.fresh_model(HERE / "model/config.json", tied, seed)
    warm_start.learn(model, questions.train, seed, lambda step, loss: tell(step, warm_start.STEPS, loss, begun))
    model.save_pretrained(warm)
    measured = {
        "greedy_accuracy": warm_start.accuracy(model, questions.held_out),
        "sampled_accuracy": warm_start.accuracy(model, questions.held_out * 5, sampled=True),
    }
    print(
        f"warm start: {warm_start.STEPS} steps in {time.monotonic() - begun:.1f} s; accuracy on held-out prompts "
        f"{measured['greedy_accuracy']:.3f} greedy, {measured['sampled_accuracy']:.3f} sampled"
    )
    return measured


def tell(step: int, steps: int, loss: float, begun: float) -> None:
    """One line that renews itself on a terminal, a line every 50 steps elsewhere."""
    live = sys.stdout.isatty()
    if live or step % 50 == 0:
        text = f"warm start: step {step}/{steps}, loss {loss:.3f}, {time.monotonic() - begun:.0f} s"
        print(f"\r{text}" if live else text, end="" if live and step < steps else "\n", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
