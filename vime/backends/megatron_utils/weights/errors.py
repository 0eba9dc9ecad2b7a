"""What can be wrong with weights."""


class WeightsError(ValueError):
    """Weights that do not fit the model, or cannot be read or written: what, where, and how to fix it."""

    def __init__(self, where: str, what: str, fix: str) -> None:
        super().__init__(f"{where}: {what}. {fix[:1].upper()}{fix[1:]}.")
        self.where, self.what, self.fix = where, what, fix

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.where, self.what, self.fix)
