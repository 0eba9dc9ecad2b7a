"""The images of upstream's files that a comparison asks for, translated and formatted as a port would, each one once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sync_tools.adopt.lines import Rendered
from sync_tools.config import Config
from sync_tools.formatters import format_all
from sync_tools.gitio import Repo
from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.port.images import translation
from sync_tools.translate import Translator
from sync_tools.translate.pool import translate_many
from sync_tools.translate.result import Translation
from sync_tools.upstream.changeset import Image
from sync_tools.upstream.patch import Side


@dataclass(frozen=True)
class _Numbered:
    """Translation of files of which several have one path: the key is `number:path`."""

    translator: Translator
    config: Config

    def __call__(self, key: str, data: bytes) -> Translation:
        path = key.partition(":")[2]
        try:
            return translation(path, data, self.config, self.translator, _as_is)
        except Exception:
            # A file that cannot be translated is compared as it is, as an import carries it.
            return Translation(data)


def _as_is(_: str, data: bytes) -> bytes:
    return data


@dataclass(frozen=True)
class Images:
    """Reads upstream."""

    upstream: Repo
    translator: Translator
    workers: int = 2

    def read(self, sides: Sequence[Side]) -> dict[Side, bytes]:
        """The bytes of many files, by one run of git."""
        files = [side for side in sides if side.mode != GITLINK]
        out = self.upstream.run("cat-file", "--batch", data="".join(f"{side.oid}\n" for side in files).encode())
        found, at = {side: side.oid.encode() for side in sides if side.mode == GITLINK}, 0
        for side in files:
            start = out.index(b"\n", at) + 1
            end = start + int(out[at : start - 1].split()[2])
            found[side], at = out[start:end], end + 1
        return found

    def rendered(self, sides: Iterable[Side]) -> Mapping[Side, Rendered]:
        """Each file as the fork would have it."""
        wanted = list(dict.fromkeys(sides))
        data = self.read(wanted)
        regular = [side for side in wanted if side.mode not in (SYMLINK, GITLINK)]
        keys = {f"{n}:{side.path}": side for n, side in enumerate(regular)}
        job = _Numbered(self.translator, self.translator.config)
        done = translate_many(job, [(key, data[side]) for key, side in keys.items()], self.workers)
        found = {side: done[key] for key, side in keys.items()}
        if formatters := self.translator.config.formatting:
            files = [(self.translator.path(side.path), found[side].data) for side in regular]
            for side, text in zip(regular, format_all(files, formatters), strict=True):
                found[side] = replace(found[side], data=text)
        for side in wanted:
            if side.mode == GITLINK:
                found[side] = Translation(data[side])
            elif side.mode == SYMLINK:
                target = self.translator.path(data[side].decode("utf-8", "surrogateescape"))
                found[side] = Translation(target.encode("utf-8", "surrogateescape"))
        return {side: Rendered(Image(side.path, side.mode, data[side]), found[side]) for side in wanted}
