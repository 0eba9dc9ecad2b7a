"""DeepScaleR's rule: what follows the thinking, boxed, is the right answer."""

from typing import Any

from vime.rollout.rm_hub.math_utils import extract_answer, grade_answer_mathd, grade_answer_sympy

_MARKS = ("</think>", "###Response")


def get_deepscaler_rule_based_reward(response: str, label: Any) -> int:
    """1 where the box behind the end of the thinking holds the label, which may be boxed too; else 0."""
    mark = next((mark for mark in _MARKS if mark in response), None)
    if mark is None or label is None:
        return 0
    given = extract_answer(response.split(mark)[-1 if mark == _MARKS[0] else 1])
    truth = str(label)
    truth = extract_answer(truth) if "\\boxed" in truth else truth
    if given is None or not truth:
        return 0
    return int(grade_answer_mathd(given, truth) or grade_answer_sympy(given, truth))
