"""The passes over one module, in order."""

from sync_tools.translate.python import (
    PythonTranslation,
    Style,
    addresses,
    control,
    exchanges,
    imports,
    inline,
    keys,
    prose,
    sites,
    words,
)
from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.interpret import Analysis
from sync_tools.translate.python.routes import worth_following
from sync_tools.translate.python.rules import rules
from sync_tools.translate.python.source import Source
from sync_tools.translate.reasons import Reason
from sync_tools.translate.result import Site


def run(text: str, style: Style, seam_module: str) -> PythonTranslation:
    try:
        source = Source(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        column = getattr(error, "offset", None) or 1
        return PythonTranslation(
            text, (), (Site(line, max(1, column), line, "module", f"does not parse: {error}", Reason.PROVENANCE),)
        )
    draft = Draft(source, seam_module)
    analysis = Analysis(source, rules(), seam_module)
    try:
        if worth_following(source, rules()):
            analysis.run()
    except RecursionError:
        return PythonTranslation(text, (), (Site(1, 1, 1, "module", "nested too deeply to follow", Reason.PROVENANCE),))
    queries = control.translate(draft, analysis, seam=style != "inline")
    addresses.rewrite(draft, list(analysis.exchanges.routes), queries)
    requests = [send.named for send in analysis.exchanges.sends.values()]
    kept = keys.rename(draft, analysis.heap, analysis.rules, requests)
    if style == "inline":
        inline.translate(draft, analysis, kept)
    else:
        exchanges.translate(draft, analysis)
    sites.report(draft, analysis, seam=style != "inline")
    words.rewrite(draft, analysis.rules)
    prose.rewrite(draft, analysis.rules, bool(analysis.exchanges.sends or analysis.exchanges.controls))
    imports.add(draft)
    return PythonTranslation(
        draft.edits.apply(text), tuple(sorted(draft.applications)), tuple(sorted(draft.unresolved))
    )
