def response_mask(turns: list[tuple[str, list[int]]]) -> list[int]:
    """1 for each token that the assistant wrote, 0 for every other; `turns` is (role, token ids) in order."""
    return [int(role == "assistant") for role, tokens in turns for _ in tokens]


def first_trainable(mask: list[int]) -> int | None:
    """Where the first trained token stands, or None when there is none."""
    return mask.index(1) if 1 in mask else None
