"""Places that were recognised and are left to a person, whatever the style."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python.draft import Draft

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis


def report(draft: Draft, an: "Analysis") -> None:
    for call in an.exchanges.served.values():
        draft.site(call, "route", "serves the engine's route itself: an engine of its own, or a fake of one")
    for call in an.exchanges.foreign.values():
        draft.site(call, ast.unparse(call.func), "gets an engine's address and a request, and is not defined here")
