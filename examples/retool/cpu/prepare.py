"""Makes what the two stages train on: conversations, problems, a tokenizer, and a model of random weights in Hugging Face's form.

    python examples/retool/cpu/prepare.py --out examples/retool/cpu/out

Takes a few seconds, most of them imports. One tool call is made, to see what the interpreter's answer looks like.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path

import products

sys.path.insert(0, str(Path(__file__).parents[2]))

from prepared import STAMP, filled

HERE = Path(__file__).parent
CONVERSATIONS, BY_TOOL, HELD_OUT = 25_600, 0.35, 200


def main(argv: list[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "out", help="the folder to fill")
    parser.add_argument("--seed", type=int, default=0, help="of the split, the weights and the demonstrations")
    parser.add_argument("--conversations", type=int, default=CONVERSATIONS, help="to imitate in the first stage")
    parser.add_argument("--by-tool", type=float, default=BY_TOOL, help="share of them that asks the interpreter")
    parser.add_argument("--held-out", type=int, default=HELD_OUT, help="problems that nothing is trained on")
    asked = parser.parse_args(argv)
    with filled(asked.out) as folder:
        told = fill(folder, asked)
    print(f"{asked.out} is ready: {told}")
    return 0


def fill(folder: Path, asked: argparse.Namespace) -> str:
    """Write everything into a new folder; what it is, in words."""
    form, parts = asyncio.run(form_of_the_rollout()), products.split(asked.seed, asked.held_out)
    talks = products.conversations(parts.train, asked.conversations, asked.by_tool, form, asked.seed)
    fresh = folder / "fresh"
    fresh.mkdir()
    write(folder / "sft.jsonl", ({"messages": talk} for talk in talks))
    write(folder / "train.jsonl", products.problems(parts.train))
    write(folder / "heldout.jsonl", products.problems(parts.held_out))
    products.save_tokenizer(fresh, form)
    parameters = save_model(fresh, asked.seed)
    options = {name: str(value) if name == "out" else value for name, value in vars(asked).items()}
    (folder / STAMP).write_text(json.dumps(options, indent=2) + "\n", "utf-8")
    return f"{asked.conversations} conversations, {len(parts.train)} problems, {len(parts.held_out)} held out, {parameters} parameters"


async def form_of_the_rollout() -> products.Format:
    """The text around questions and results, taken from what the rollout makes of a question and of a call."""
    sys.path.insert(0, str(HERE.parent))
    import generate_with_retool as retool

    mark, tools = "6*7", retool.tool_registry()
    prompt = retool.format_conversation_with_tools(mark, tools=tools.get_tool_specs())
    result, _ = await retool.execute_predictions(products.call(mark), tools)
    tools.close()
    if prompt.count(mark) != 1 or result.count("42") != 1:
        raise SystemExit(f"error: the interpreter was asked for {mark} and said {result!r}")
    (before, after), (opened, closed) = prompt.split(mark), result.split("42")
    return products.Format(before, after, opened, closed)


def save_model(folder: Path, seed: int) -> int:
    """A model of the shape in model/config.json, float32, with random weights; its number of parameters."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    torch.manual_seed(seed)
    shape = json.loads((HERE / "model/config.json").read_text("utf-8"))
    tokens = {token: number for number, token in enumerate(products.SPECIALS)}
    shape |= {"eos_token_id": tokens[products.END], "pad_token_id": tokens[products.END_OF_TEXT], "bos_token_id": None}
    model = Qwen3ForCausalLM(Qwen3Config(**shape, dtype="float32")).float()
    model.save_pretrained(folder)
    return sum(weights.numel() for weights in model.parameters())


def write(path: Path, rows: object) -> None:
    """A file of JSON lines."""
    path.write_text(products.lines(rows), "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
