"""The reward of an answer that is the label, letter by letter."""

from typing import Any

END_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>", "<eos>")
"""How common models end an answer; a text that was decoded with its special tokens has one of them last."""


def exact_match(response: str, label: Any) -> float:
    """1.0 where the response is the label, but for space around it and the token that ends it; else 0.0."""
    answer = response.strip()
    for token in END_TOKENS:
        if answer.endswith(token):
            answer = answer.removesuffix(token).strip()
            break
    return float(label is not None and answer == str(label).strip())
