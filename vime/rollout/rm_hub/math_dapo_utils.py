"""Answers of DAPO's training set, which are integers. Normalised as in Minerva (arXiv:2206.14858, appendix D)."""

from __future__ import annotations

import re
from typing import Any

from vime.rollout.rm_hub import boxed

__all__ = [
    "compute_score",
    "is_correct_minerva",
    "is_correct_strict_box",
    "last_boxed_only_string",
    "normalize_final_answer",
    "remove_boxed",
    "verify",
]

_TAIL = 300
_BOX_TAIL = 100
_INVALID = "[INVALID]"
# In this order; what follows is deleted.
SUBSTITUTIONS = [
    *(("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), ("\\ ", ""), (" ", "")),
    *(("mbox", "text"), (",\\text{and}", ","), ("\\text{and}", ","), ("\\text{m}", "\\text{}")),
]
_WORDS = """
    square ways integers dollars mph inches hours km units \\ldots sue points feet minutes digits cents degrees cm gm
    pounds meters meals edges students childrentickets multiples
"""
REMOVED_EXPRESSIONS = [
    *_WORDS.split(),
    *("\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}", "\\text{}"),
    *("\\mathrm{th}", "^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"', "\\dots", "<|im_end|>", "<|endoftext|>"),
]
# Wrappers of which the content stays, and LaTeX's short forms.
_UNWRAPPED = (
    (r"[^$]*\$([^$]*)\$.*", r"$\1$"),
    (r"\\(?:text|textbf|overline)\{([^{}]*)\}", r"\1"),
    (r"\\boxed\{(.*)\}", r"\1"),
    (r"(frac)([^{])(.)", r"frac{\2}{\3}"),
    (r"(sqrt)([^{])", r"sqrt{\2}"),
)


def last_boxed_only_string(string: str) -> str | None:
    r"""The last \boxed{...}, braces and all."""
    return boxed.last_box(string)


def remove_boxed(s: str) -> str:
    r"""What is in \boxed{...}. Raises AssertionError for anything else."""
    inside = boxed.content(s)
    if inside is None:
        raise AssertionError(f"box error: {s!r} is no \\boxed{{...}}")
    return inside


def normalize_final_answer(final_answer: Any) -> str:
    """One spelling for answers that differ in words, units and layout."""
    text = str(final_answer).split("=")[-1]
    for before, after in SUBSTITUTIONS:
        text = text.replace(before, after)
    for word in REMOVED_EXPRESSIONS:
        text = text.replace(word, "")
    for pattern, replacement in _UNWRAPPED:
        text = re.sub(pattern, replacement, text)
    text = text.replace("$", "")
    return (text.replace(",", "") if text.replace(",", "").isdigit() else text).strip()


def is_correct_minerva(
    solution_str: str, gt: Any, gt_need_extract: bool = False, answer_pattern: str = r"(?i)Answer\s*:\s*([^\n]+)"
) -> tuple[bool, str]:
    """Whether the last "Answer: ..." is the integer `gt`; and what it was, normalised."""
    found = re.findall(answer_pattern, solution_str)
    given = normalize_final_answer(found[-1] if found else _INVALID)
    right = normalize_final_answer(remove_boxed(last_boxed_only_string(gt)) if gt_need_extract else gt)
    try:
        right = str(_whole(right))
    except (ValueError, OverflowError):
        raise ValueError(
            f"the right answer {gt!r} is no integer, as --rm-type dapo needs; use --rm-type math"
        ) from None
    return given == right, given


def _whole(text: str) -> int:
    """What a label says, which may be written as 42.0; exactly, where it is written as an integer."""
    try:
        return int(text)
    except ValueError:
        return int(float(text))


def is_correct_strict_box(pred: str, gt: str, pause_tokens_index: list[int] | None = None) -> tuple[int, str | None]:
    """(1 where the last box, near the end, holds `gt` letter by letter, else -1; what it holds)."""
    if pause_tokens_index is not None and len(pause_tokens_index) != 4:
        raise ValueError(f"pause_tokens_index has {len(pause_tokens_index)} entries, not 4")
    start = -_BOX_TAIL if pause_tokens_index is None else pause_tokens_index[-1] - _BOX_TAIL
    held = boxed.content(last_boxed_only_string(pred[start:]))
    return (1 if held == gt else -1), held


def verify(
    solution_str: str, answer: str, strict_box_verify: bool = False, pause_tokens_index: list[int] | None = None
) -> tuple[bool, str | None]:
    """(whether the answer is right, what it was)."""
    if not strict_box_verify:
        return is_correct_minerva(solution_str, answer)
    score, held = is_correct_strict_box(solution_str, answer, pause_tokens_index)
    return score == 1, held


def compute_score(
    solution_str: str,
    ground_truth: str,
    strict_box_verify: bool = False,
    pause_tokens_index: list[int] | None = None,
) -> dict[str, Any]:
    """score (1.0 or -1.0), acc and pred, by the last 300 characters."""
    correct, given = verify(solution_str[-_TAIL:], ground_truth, strict_box_verify, pause_tokens_index)
    return {"score": 1.0 if correct else -1.0, "acc": correct, "pred": given}
