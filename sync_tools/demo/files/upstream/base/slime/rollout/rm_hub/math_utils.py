import re

BOXED = re.compile(r"\\boxed\{([^{}]*)\}")


def last_boxed(text: str) -> str | None:
    """What stands in the last \\boxed{...}, or None."""
    found = BOXED.findall(text)
    return found[-1].strip() if found else None


def grade_answer(response: str, label: str) -> bool:
    answer = last_boxed(response)
    return answer is not None and answer.replace(" ", "") == str(label).replace(" ", "")
