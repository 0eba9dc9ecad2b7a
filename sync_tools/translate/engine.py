"""From the bytes of a file to its translation: decode, the seam pass of Python, then the edits of the text passes."""

from collections.abc import Callable
from dataclasses import dataclass

from sync_tools.translate.arguments import drop_assertions, report_gone_arguments
from sync_tools.translate.edits import Claims, report
from sync_tools.translate.endpoints import renamed_endpoints, translate_endpoints
from sync_tools.translate.environment import translate_environment
from sync_tools.translate.flags import translate_flags
from sync_tools.translate.imports import translate_imports
from sync_tools.translate.kinds import Kind, Profile
from sync_tools.translate.listed import translate_listed
from sync_tools.translate.metrics import translate_metrics
from sync_tools.translate.names import Naming, rename, rename_all
from sync_tools.translate.overrides import translate_overrides
from sync_tools.translate.prose import translate_prose
from sync_tools.translate.result import Application, Site, Translation
from sync_tools.translate.seampass import mapped, shifted, translate_fragment, translate_seam
from sync_tools.translate.text.markdown import Piece, pieces
from sync_tools.translate.text.pylex import Lexed

BOM = "\ufeff"
ROUNDS = 4
ENGINE_HINTS = ("sglang", "SGLang", "SGLANG", "SGL_", "/pull_weights", "/engine_metrics")

Translated = tuple[str, tuple[Application, ...], tuple[Site, ...]]


@dataclass(frozen=True)
class Settings:
    """What translation needs of a configuration, and nothing else (so that workers start cheaply)."""

    naming: Naming
    style: str
    seam_module: str
    size_limit: int


def translate_bytes(data: bytes, profile: Profile, settings: Settings) -> Translation:
    """The translation of a file's bytes. Binary, oversized and kept files come back as they are."""
    if profile.kept or len(data) > settings.size_limit or b"\0" in data[:8192]:
        return Translation(data)
    text, encoding = _decode(data)
    bom, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    result, applications, sites = translate_text(text, profile.kind, settings)
    return Translation(data if result == text else (bom + result).encode(encoding), applications, sites)


def _decode(data: bytes) -> tuple[str, str]:
    """UTF-8, else latin-1, which any bytes survive: what the rules write is ASCII."""
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def translate_text(text: str, kind: Kind, settings: Settings) -> Translated:
    """All passes on one text of one kind; positions are those of `text`."""
    match kind:
        case "python":
            return _python(text, settings)
        case "markdown":
            return _settled(lambda t: _document(t, settings), text, settings.naming)
        case _:
            return _settled(lambda t: _passes(t, kind, settings), text, settings.naming)


def _python(text: str, settings: Settings) -> Translated:
    """The seam pass runs on upstream's names, the text passes on what it gives."""
    seam = translate_seam(text, settings.style, settings.seam_module) if settings.naming.engine else None
    between = text if seam is None else seam[0]
    result, applications, sites = _settled(lambda t: _passes(t, "python", settings), between, settings.naming)
    if seam is None:
        return result, applications, sites
    applications, sites = mapped(text, between, applications, sites)
    return result, tuple(sorted({*seam[1], *applications})), tuple(sorted({*seam[2], *sites}))


def _settled(run: Callable[[str], Translated], text: str, naming: Naming) -> Translated:
    """Run until nothing changes any more: what one pass removes may leave a line that another knows.

    One round does all there is in nearly every text, and a second one is only tried where a hint word is left.
    """
    result, applications, sites = run(text)
    for _ in range(ROUNDS):
        if result == text or not _holds_hints(result, naming):
            break
        again, more, others = run(result)
        if again == result:
            break
        more, others = mapped(text, result, more, others)
        known = {s.what for s in sites}
        applications += more
        sites += tuple(s for s in others if s.what not in known)
        result = again
    return result, tuple(sorted(applications)), tuple(sorted(sites))


def _holds_hints(text: str, naming: Naming) -> bool:
    return any(hint in text for hint in (ENGINE_HINTS if naming.engine else naming.hints))


def _document(text: str, settings: Settings) -> Translated:
    """Each piece by its own kind; a block of Python is translated without its indentation."""
    parts, applications, sites, line = [], [], [], 0
    for piece in pieces(text):
        body = text[piece.start : piece.end]
        result, found, reported = _piece(body, piece, settings)
        parts.append(result)
        found, reported = shifted(line, 0, found, reported)
        applications += found
        sites += reported
        line += body.count("\n")
    return "".join(parts), tuple(applications), tuple(sites)


def _piece(body: str, piece: Piece, settings: Settings) -> Translated:
    if piece.kind == "kept":
        return body, (), ()
    if piece.kind != "python" or ">" in piece.indent:
        return _passes(body, "text" if piece.kind == "python" else piece.kind, settings)
    lead, code = piece.indent, body.removesuffix("\n")
    lines = code.split("\n")
    seam = None
    if settings.naming.engine and all(line.startswith(lead) or not line.strip() for line in lines):
        plain = "\n".join(line.removeprefix(lead) for line in lines) + "\n"
        seam = translate_fragment(plain, settings.style, settings.seam_module)
    if seam is None:
        return _passes(body, "python", settings)
    blank = lead if lead in lines else ""
    between = (
        "\n".join(lead + line if line.strip() else blank for line in seam[0].removesuffix("\n").split("\n"))
        + body[len(code) :]
    )
    result, applications, sites = _passes(between, "python", settings)
    applications, sites = mapped(body, between, applications, sites)
    found, reported = shifted(0, len(lead), seam[1], seam[2])
    return result, (*found, *applications), (*reported, *sites)


def _passes(text: str, kind: Kind, settings: Settings) -> Translated:
    """The text passes, once: their edits are collected together and applied together."""
    claims = Claims(text)
    if settings.naming.engine and _holds_hints(text, settings.naming):
        _engine_passes(claims, kind, settings)
    rename(claims, settings.naming)
    return claims.apply(), *report(claims)


def _engine_passes(claims: Claims, kind: Kind, settings: Settings) -> None:
    """What only a change of engine asks for, before the names. A patch keeps its lines: only names change in it."""
    lexed = Lexed.of(claims.text) if kind == "python" else None
    if lexed is not None:
        translate_listed(claims, lexed)
        translate_imports(claims, lexed, None if settings.style == "inline" else settings.seam_module)
        drop_assertions(claims)
        report_gone_arguments(claims, lexed)
    if kind != "patch":
        translate_prose(claims, kind, lexed, lambda s: rename_all(renamed_endpoints(s), settings.naming))
        translate_overrides(claims, lexed)
        translate_flags(claims, kind, lexed)
        translate_endpoints(claims, kind, lexed)
    translate_metrics(claims, lines_may_go=kind not in ("python", "patch"))
    translate_environment(claims, lexed, lines_may_go=kind != "patch")
