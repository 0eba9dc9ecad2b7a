"""Upstream's images translated before they are asked for: over several processes, and each of them once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sync_tools.config import Config
from sync_tools.formatters import format_all
from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.policy import policy_of
from sync_tools.port.file import Setting
from sync_tools.port.images import unformatted
from sync_tools.translate.pool import translating
from sync_tools.translate.result import Translation
from sync_tools.upstream.changeset import ChangeSet, Image

Translations = Mapping[tuple[str, bytes], Translation]

WORKERS = 2
BATCH = 200  # files that a formatter is given at a time


def translated_ahead(images: Sequence[Image], setting: Setting) -> Setting:
    """The setting that knows the translations of `images`, as the fork formats them."""
    with translating_ahead(images, setting) as translated:
        return translated()


@contextmanager
def translating_ahead(images: Sequence[Image], setting: Setting) -> Iterator[Callable[[], Setting]]:
    """Begin to translate `images`; what is yielded waits for the end, and is the setting that knows them."""
    translator = setting.translator
    items = list({(i.path, i.data): None for i in images if i.mode in (REGULAR, EXECUTABLE)})
    with translating(translator.file, items, WORKERS, known=translator.known) as done:
        yield lambda: replace(setting, known=_formatted(done(), setting))


def _formatted(done: Translations, setting: Setting) -> Translations:
    """Translations as the fork has them."""
    config, translator = setting.config, setting.translator
    plain = {key: unformatted(key[0], found, config, translator) for key, found in done.items()}
    items = list(plain)
    formatted = [
        data
        for at in range(0, len(items), BATCH)
        for data in format_all(
            [(translator.path(k[0]), plain[k].data) for k in items[at : at + BATCH]], config.formatting
        )
    ]
    return {key: replace(plain[key], data=data) for key, data in zip(items, formatted, strict=True)}


def carried_images(changes: Sequence[ChangeSet], config: Config) -> list[Image]:
    """What will be translated: all but what a policy keeps out."""
    files = [f for each in changes for f in each.files]
    wanted = [f for f in files if (p := policy_of(config, f)) is None or p.action not in ("skip", "owned")]
    return [image for f in wanted for image in (f.before, f.after) if image]
