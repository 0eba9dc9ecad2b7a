"""Prompts for reinforcement learning from DAPO-Math-17k: the question as `prompt`, the answer as `label`.

Takes the set as its authors publish it (prompt: messages; reward_model: ground_truth), and rows that have a label already.
"""

from __future__ import annotations

from data_files import BadRow, Row, main

EXAMPLE = (
    "python examples/retool/rl_data_preprocess.py --input data/raw/DAPO-Math-17k \\\n"
    "    --output data/dapo_math_17k_cleaned.jsonl --unique"
)


def transform(row: Row) -> Row:
    """{prompt, label}, both texts. Raises BadRow."""
    rewarded = row.get("reward_model")
    label = rewarded.get("ground_truth") if isinstance(rewarded, dict) else row.get("label")
    if isinstance(label, bool) or not isinstance(label, str | int | float) or label == "":
        raise BadRow("no label: neither reward_model.ground_truth nor label is a text or a number")
    return {"prompt": _question(row.get("prompt")), "label": str(label)}


def _question(prompt: object) -> str:
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], dict):
        prompt = prompt[0].get("content")
    if not isinstance(prompt, str) or not prompt.strip():
        raise BadRow("no prompt: neither a text, nor messages of which the first has one")
    return prompt


if __name__ == "__main__":
    raise SystemExit(main(transform, __doc__.splitlines()[0], EXAMPLE))
