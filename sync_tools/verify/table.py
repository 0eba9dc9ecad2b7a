"""The checks: what each says, whether it gates, and where its faults can come from."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sync_tools.verify.checks.arguments import arguments
from sync_tools.verify.checks.calls import calls
from sync_tools.verify.checks.dangling import dangling
from sync_tools.verify.checks.duplicates import duplicates
from sync_tools.verify.checks.endpoints import endpoints
from sync_tools.verify.checks.flags import flags
from sync_tools.verify.checks.format import formatting
from sync_tools.verify.checks.imports import imports
from sync_tools.verify.checks.links import links
from sync_tools.verify.checks.markers import markers
from sync_tools.verify.checks.parse import parse
from sync_tools.verify.checks.patches import patches
from sync_tools.verify.checks.payloads import payloads
from sync_tools.verify.checks.residue import residue
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.origin import Reference
from sync_tools.verify.review.rules import review


@dataclass(frozen=True)
class Row:
    """`reference`: where upstream itself can have the fault. `engine`: only for a fork on another engine."""

    name: str
    run: Callable[[Context], Iterable[Finding]]
    says: str
    gating: bool = True
    reference: Reference = "none"
    engine: bool = False


CHECKS: tuple[Row, ...] = (
    Row("parse", parse, "touched files parse", reference="file"),
    Row("markers", markers, "no conflict marker is left", reference="file"),
    Row("residue", residue, "no name of upstream's engine or package is left in code"),
    Row("imports", imports, "imported names of our packages exist", reference="tree"),
    Row("calls", calls, "calls bind to the signatures of our functions", reference="tree"),
    Row("dangling", dangling, "nothing names what the port removed", reference="mention"),
    Row("duplicates", duplicates, "no definition stands twice in one scope", reference="file"),
    Row("payloads", payloads, "keys sent to the engine are fields of its request", engine=True),
    Row("endpoints", endpoints, "routes asked of the engine exist", engine=True),
    Row("arguments", arguments, "`args.x` is defined by a parser", gating=False, reference="mention"),
    Row("flags", flags, "the engine's flags exist", engine=True),
    Row("format", formatting, "the fork's formatters change nothing", reference="file"),
    Row("links", links, "links of documents lead somewhere", gating=False, reference="mention"),
    Row("patches", patches, "hunks of patch files are whole", reference="file"),
    Row("review", review, "known ways in which ported code goes wrong", gating=False, reference="file"),
)
