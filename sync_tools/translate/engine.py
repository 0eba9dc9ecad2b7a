"""From the bytes of a file to its translation: decode, the seam pass of Python, then the edits of the text passes."""

from dataclasses import dataclass

from sync_tools.translate.edits import Claims, report
from sync_tools.translate.flags import translate_flags
from sync_tools.translate.kinds import Kind, Profile
from sync_tools.translate.names import Naming, rename
from sync_tools.translate.result import Application, Site, Translation
from sync_tools.translate.text.pylex import Lexed

BOM, ENGINE_HINT = "\ufeff", "sglang"


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


def translate_text(text: str, kind: Kind, settings: Settings) -> tuple[str, tuple[Application, ...], tuple[Site, ...]]:
    """The text passes on one text of one kind; positions are those of `text`."""
    claims = Claims(text)
    if settings.naming.engine:
        _engine_passes(claims, kind)
    rename(claims, settings.naming)
    applications, sites = report(claims)
    return claims.apply(), applications, sites


def _engine_passes(claims: Claims, kind: Kind) -> None:
    """What only a change of engine asks for, before the names."""
    if ENGINE_HINT not in claims.text:
        return
    lexed = Lexed.of(claims.text) if kind == "python" else None
    if kind != "patch":
        translate_flags(claims, kind, lexed)
