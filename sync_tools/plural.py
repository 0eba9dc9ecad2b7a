"""Numbers of things, in words."""


def counted(n: int, one: str, many: str = "") -> str:
    """`1 entry`, `2 entries`; without `many` an `s` makes the plural."""
    return f"{n} {one if n == 1 else many or one + 's'}"
