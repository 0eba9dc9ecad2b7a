"""Translate Python by provenance: requests, answers, streams, control routes.

Works in upstream's names; names, comments and imports of other modules are another pass.
"""

from dataclasses import dataclass
from typing import Literal

from sync_tools.translate.python.rules import rules
from sync_tools.translate.result import Application, Site

__all__ = ["PythonTranslation", "Style", "needs", "translate_module"]

Style = Literal["module", "vendor", "inline"]


@dataclass(frozen=True)
class PythonTranslation:
    """Lines and columns of `applications` and `unresolved` are those of the text that went in."""

    source: str
    applications: tuple[Application, ...] = ()
    unresolved: tuple[Site, ...] = ()


def needs(source: str) -> bool:
    """Whether the text may hold something to translate: where it does not, translating changes nothing."""
    return any(word in source for word in rules().triggers) or rules().may_post_to_opaque(source)


def translate_module(source: str, *, style: Style, seam_module: str) -> PythonTranslation:
    """The module with its calls of the upstream engine turned into calls of vLLM.

    Deterministic and idempotent; text that holds nothing to translate comes back as it is, and so does text that does
    not parse, with a site that says so. `vendor` differs from `module` in `seam_module` alone; `inline` uses no seam.
    """
    if not needs(source):
        return PythonTranslation(source)
    from sync_tools.translate.python.passes import run

    return run(source, style, seam_module)
