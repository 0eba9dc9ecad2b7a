"""Mathematical answers: normalised as for the MATH data set (arXiv:2103.03874), and compared by a grader process.

Nothing here evaluates text. What needs algebra goes to `vime.rollout.rm_hub.grading`, which may be killed.
"""

from __future__ import annotations

import re
from typing import Any

from vime.rollout.rm_hub import boxed
from vime.rollout.rm_hub.grading import graders

__all__ = [
    "extract_answer",
    "extract_boxed_answer",
    "grade_answer_mathd",
    "grade_answer_sympy",
    "grade_answer_verl",
    "last_boxed_only_string",
    "mathd_normalize_answer",
    "remove_boxed",
]

LONGEST_ANSWER = 2000
"""Characters; a longer answer is wrong without being looked at."""

# In this order.
_REPLACED = (
    ("\n", ""),
    ("\\!", ""),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
    ("\\%", ""),
    (" .", " 0."),
    ("{.", "{0."),
)
_INTEGER = re.compile(r"-?\d+(?:\.0*)?")
_FRACTION = re.compile(r"-?\\frac\{-?\d+\}\{-?\d+\}|-?\d+/\d+")
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def last_boxed_only_string(string: str) -> str | None:
    r"""The last \boxed{...}, else \fbox{...}, braces and all."""
    return boxed.last_box(string, ("\\boxed", "\\fbox"))


def remove_boxed(s: str | None) -> str | None:
    r"""What is in \boxed{...}; None for anything else."""
    return boxed.content(s)


def extract_boxed_answer(solution: str) -> str | None:
    """What the last box of a solution holds."""
    return remove_boxed(last_boxed_only_string(solution))


def extract_answer(passage: str) -> str | None:
    """The same; None where there is no box."""
    return extract_boxed_answer(passage) if "\\boxed" in passage else None


def mathd_normalize_answer(answer: str | None) -> str | None:
    r"""One spelling for what is written alike: fractions, roots, units, spaces, \text{...} around it all."""
    if answer is None:
        return None
    text = answer.strip()
    if text.startswith("\\text{") and text.endswith("}"):
        text = text[len("\\text{") : -1].strip()
    return _strip_string(text)


def _strip_string(string: str) -> str:
    for before, after in _REPLACED:
        string = string.replace(before, after)
    # A unit stands behind, as text.
    string = string.partition("\\text{ ")[0]
    if string.startswith("."):
        string = "0" + string
    name, equals, value = string.partition("=")
    if equals and "=" not in value and len(name) <= 2:
        string = value
    string = re.sub(r"\\sqrt\s*([^{\s])", r"\\sqrt{\1}", string).replace(" ", "")
    string = _braced_fractions(string)
    if string == "0.5":
        return "\\frac{1}{2}"
    return re.sub(r"^(-?\d+)/(\d+)$", r"\\frac{\1}{\2}", string)


def _braced_fractions(text: str) -> str:
    r"""\frac12, \frac1{72} and \frac{1}2 with both braces."""
    text = re.sub(r"\\frac([^{\\])([^{\\])", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\\frac([^{\\])\{", r"\\frac{\1}{", text)
    return re.sub(r"\\frac(\{[^{}]*\})([^{\\])", r"\\frac\1{\2}", text)


def grade_answer_mathd(given_answer: str | None, ground_truth: str | None) -> bool:
    """Whether both are written alike when normalised."""
    return mathd_normalize_answer(given_answer) == mathd_normalize_answer(ground_truth)


def grade_answer_sympy(given_answer: str, ground_truth: str | None) -> bool:
    """Whether both are equal as mathematics. Blocks up to the graders' deadline; what cannot be told is not equal.

    An integer is only equal to one that is written as one, and a fraction only to itself: unreduced ones are wrong.
    """
    if ground_truth is None or not given_answer or max(len(given_answer), len(ground_truth)) > LONGEST_ANSWER:
        return False
    given, truth = (_ungrouped(_strip_string(text.strip())) for text in (given_answer, ground_truth))
    if given == truth:
        return True
    if _FRACTION.fullmatch(given) and _FRACTION.fullmatch(truth):
        return False
    if bool(_INTEGER.fullmatch(given)) != bool(_INTEGER.fullmatch(truth)):
        return False
    if _INTEGER.fullmatch(given):
        return _whole(given) == _whole(truth)
    return graders().equal(truth, given)


def _whole(text: str) -> int:
    """Exactly: as floats, long integers that differ are equal."""
    return int(text.partition(".")[0])


def _ungrouped(text: str) -> str:
    """A number without the commas between its thousands."""
    return text.replace(",", "") if _GROUPED.fullmatch(text) else text


def grade_answer_verl(solution_str: str, ground_truth: Any) -> bool:
    """Whether the last box of a solution holds the right answer, which may be boxed too."""
    truth = str(ground_truth) if ground_truth else ""
    truth = extract_answer(truth) if "\\boxed" in truth else truth
    given = extract_answer(solution_str)
    if not truth or given is None:
        return False
    return grade_answer_mathd(given, truth) or grade_answer_sympy(given, truth)
