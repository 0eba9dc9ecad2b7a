"""What can be wrong with weights."""

from vime.errors import travels


@travels
class WeightsError(ValueError):
    """Weights that do not fit the model, or cannot be read or written: what, where, and how to fix it."""

    def __init__(self, where: str, what: str, fix: str) -> None:
        super().__init__(f"{where}: {what}. {fix[:1].upper()}{fix[1:]}.")
        self.where, self.what, self.fix = where, what, fix
