"""Numbers for people."""

import math


def text(value: float) -> str:
    """A number, short: four digits that count."""
    if not math.isfinite(value):
        return str(value)
    if value and (abs(value) < 1e-3 or abs(value) >= 1e6):
        mantissa, _, power = f"{value:.2e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    shown = f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return shown
