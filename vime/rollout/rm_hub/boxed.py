r"""The answer that a text puts into \boxed{...}."""

_BOX = "\\boxed{"


def last_box(text: str, openings: tuple[str, ...] = (_BOX,)) -> str | None:
    """The last box with its content, up to the brace that closes it; None where there is none, or it never closes.

    Of several `openings` the first that occurs counts. Linear in the text.
    """
    start = next((at for at in map(text.rfind, openings) if at >= 0), -1)
    if start < 0:
        return None
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0 and text[at] == "}":
            return text[start : at + 1]
    return None


def content(box: str | None) -> str | None:
    """What is in a box; None for what is none."""
    if not isinstance(box, str) or not box.startswith(_BOX) or not box.endswith("}"):
        return None
    return box[len(_BOX) : -1]
