from .math_utils import grade_answer, last_boxed


def compute_score(solution: str, label: str) -> dict:
    """1 for a right answer in the box and -1 for anything else, with what was read as the answer."""
    right = grade_answer(solution, label)
    return {"score": 1.0 if right else -1.0, "acc": right, "pred": last_boxed(solution) or ""}
