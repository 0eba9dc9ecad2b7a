"""Upstream's images translated before they are asked for: over several processes, and each of them once."""

from collections.abc import Sequence
from dataclasses import replace

from sync_tools.formatters import format_all
from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.port.file import Setting
from sync_tools.port.images import unformatted
from sync_tools.translate.pool import translate_all
from sync_tools.upstream.changeset import Image

WORKERS = 2
BATCH = 200  # files that a formatter is given at a time


def translated_ahead(images: Sequence[Image], setting: Setting) -> Setting:
    """The setting that knows the translations of `images`, as the fork formats them."""
    config, translator = setting.config, setting.translator
    items = list({(i.path, i.data): None for i in images if i.mode in (REGULAR, EXECUTABLE)})
    done = translate_all(translator.file, items, WORKERS)
    plain = {key: unformatted(key[0], done[key], config, translator) for key in items}
    formatted = [
        data
        for at in range(0, len(items), BATCH)
        for data in format_all(
            [(translator.path(k[0]), plain[k].data) for k in items[at : at + BATCH]], config.formatting
        )
    ]
    known = {key: replace(plain[key], data=data) for key, data in zip(items, formatted, strict=True)}
    return replace(setting, known=known)
