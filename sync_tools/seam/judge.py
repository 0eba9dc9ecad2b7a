"""What the translator made of each site: its report, its rule applications and the text that it gives, looked at from outside."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from sync_tools.seam.find import find
from sync_tools.seam.model import How, Judged, SeamSite
from sync_tools.seam.names import names
from sync_tools.seam.protected import protection
from sync_tools.translate.reasons import Reason
from sync_tools.translate.result import Application, Site, Translation

SERVED = "what a server of its own answers, whose route is reported"
INTERFACE = frozenset({"request field", "sampling key", "answer field"})
_WRAPS = re.compile(r"SY1(?:04|1[12]|4[1-3]|5\d)")


@dataclass(frozen=True)
class Image:
    """A file of upstream's with its translation. `kept` says why the file as a whole is out of the count; it `speaks` where the
    translated tree holds it all the same."""

    path: str
    data: bytes
    translation: Translation
    kept: str = ""
    speaks: bool = False


def judge(image: Image) -> tuple[list[Judged], list[SeamSite]]:
    """The verdicts of a file's sites, and the translator's reports where none was found.

    Dicts that modules share keep upstream's vocabulary in every style: what builds the request and reads the answer, the
    seam or the helpers of the inline style, converts them.
    """
    sites = find(image.path, image.data)
    if image.kept:
        return [Judged(site, "kept", why=image.kept, speaks=image.speaks) for site in sites], []
    lines = image.data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    left = _left(image, lines, sites)
    reports = image.translation.unresolved
    whole = _wraps(image, sites, left, reports)
    serves = any(r.reason == Reason.OTHER_SERVICE for r in reports) and not _rewrites(image)
    converts = any("control_call(" in a.after for a in image.translation.applications)
    judged, used = [], set()
    for site in sites:
        protected = protection(site, lines[site.line - 1])
        report = next((r for r in reports if _is_of(r, site)), None) or _beside(reports, sites, site)
        if protected:
            judged.append(Judged(site, "kept", why=protected.why, speaks=protected.speaks))
        elif report is not None:
            judged.append(Judged(site, "unresolved", why=report.why, reason=report.reason.value))
        elif site not in left or (site.what in names().asked and _how(image.translation.applications, site) == "rule"):
            judged.append(Judged(site, "translated", _how(image.translation.applications, site)))
        elif site.kind == "answer field" and serves:
            judged.append(Judged(site, "kept", why=SERVED, speaks=True))
        elif site.kind in INTERFACE and whole and (site.what not in names().control or converts):
            judged.append(Judged(site, "translated", "interface"))
        else:
            judged.append(Judged(site, "missed"))
        used |= {r for r in reports if _is_of(r, site) or r == report}
    unseen = [SeamSite(image.path, r.line, r.column, "endpoint", r.what) for r in reports if r not in used]
    return judged, unseen


def _is_of(report: Site, site: SeamSite) -> bool:
    """Whether the translator's report is about the site."""
    if not report.line <= site.line <= report.end_line:
        return False
    if report.what in ("module", "request", "answer", "stream", "post"):
        return site.kind in INTERFACE or site.kind == "endpoint"
    if report.what == "route":
        return site.kind == "endpoint"
    if report.what.startswith("/") and site.kind == "request field":
        return True
    return site.what in report.what or report.what in site.what or site.what.removeprefix("from ") in report.what


def _beside(reports: tuple[Site, ...], sites: list[SeamSite], site: SeamSite) -> Site | None:
    """The report about a site that was made elsewhere: a route, or a control route's body, is named in one place and sent
    in another, where no site stands."""
    for report in reports:
        alone = not any(report.line <= s.line <= report.end_line for s in sites)
        body = report.what.startswith("/") and site.kind == "request field" and site.what in names().control
        if alone and (report.what == site.what or body):
            return report
    return None


def _how(applications: Iterable[Application], site: SeamSite) -> How:
    """Whether a rule was applied at the site, or only its line reads otherwise now."""
    end = site.column + len(site.what)
    for a in applications:
        rows = a.before.count("\n")
        if a.line <= site.line <= a.line + rows and (
            rows or (a.column < end and site.column < a.column + max(1, len(a.before)))
        ):
            return "rule"
    return "text"


def _left(image: Image, lines: list[str], sites: list[SeamSite]) -> set[SeamSite]:
    """The sites that stand in the translated text as they were."""
    if image.translation.data == image.data or not sites:
        return set(sites)
    after = image.translation.data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    there = find(image.path, image.translation.data)
    left: set[SeamSite] = set()
    for tag, i, j, k, m in SequenceMatcher(None, lines, after, autojunk=False).get_opcodes():
        old = [s for s in sites if i < s.line <= j]
        if tag == "equal":
            left |= set(old)
        elif old:
            rest = Counter((s.kind, s.what) for s in there if k < s.line <= m)
            left |= set(_last(old, rest | _keys(old, "\n".join(after[k:m]))))
    return left


def _keys(sites: Iterable[SeamSite], text: str) -> Counter[tuple[str, str]]:
    """How often a text still names the keys of dicts among the sites: the search tells a body by its route, which may be
    another by now."""
    keys = {(site.kind, site.what) for site in sites if site.kind in INTERFACE}
    return Counter({key: len(re.findall(rf"""["']{re.escape(key[1])}["']""", text)) for key in keys})


def _last(sites: list[SeamSite], rest: Mapping[tuple[str, str], int]) -> Iterable[SeamSite]:
    """As many of the sites as the text still holds of their kind and name."""
    rest = Counter(rest)
    for site in reversed(sites):
        if rest[site.kind, site.what]:
            rest[site.kind, site.what] -= 1
            yield site


def _wraps(image: Image, sites: list[SeamSite], left: set[SeamSite], reports: tuple[Site, ...]) -> bool:
    """Whether what the module exchanges with an engine goes through the seam: it wraps where it sends, or it sends nothing."""
    routes = [s for s in sites if s.kind == "endpoint" and s.what == "/generate" and s in left]
    opaque = any(r.reason == Reason.PROVENANCE for r in reports)
    return _rewrites(image) or not (routes or opaque)


def _rewrites(image: Image) -> bool:
    """Whether a rule turned a request or an answer in the module."""
    return any(_WRAPS.fullmatch(a.rule) for a in image.translation.applications)
