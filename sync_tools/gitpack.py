"""Git's objects as one pack with its index, made in memory: a repository's first commit, for a tenth of what git takes.

No deltas: they take longer than all the rest, and save a twentieth; `git gc` makes up for it. Formats: gitformat-pack(5).
"""

import hashlib
import os
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sync_tools.gitobjects import Entry, level_data
from sync_tools.modes import FOLDER
from sync_tools.paths import parents

KINDS = {"commit": 1, "tree": 2, "blob": 3}
FAR = 0x80000000
"""From this offset on, the index keeps an offset in a table of its own."""


@dataclass(frozen=True)
class Pack:
    """What stands in `pack-NAME.pack` and in `pack-NAME.idx`."""

    name: str
    data: bytes
    index: bytes


@dataclass(frozen=True)
class Place:
    """Where in a pack an object stands, and the checksum of how it stands there."""

    oid: bytes
    crc: int
    offset: int


def object_id(kind: str, data: bytes) -> str:
    """The id that git gives an object."""
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()


def trees(files: Mapping[str, Entry]) -> tuple[str, list[bytes]]:
    """The id of the tree of these files, by path, and the tree objects of it and of all folders."""
    levels: dict[str, dict[bytes, Entry]] = {"": {}}
    for path, entry in files.items():
        folder, _, name = path.rpartition("/")
        for above in parents(path):
            levels.setdefault(above, {})
        levels[folder][os.fsencode(name)] = entry
    made = []
    for folder in sorted(levels, key=lambda f: f.count("/") + bool(f), reverse=True):
        made.append(level_data(levels[folder]))
        oid = object_id("tree", made[-1])
        if folder:
            above, _, name = folder.rpartition("/")
            levels[above][os.fsencode(name)] = (FOLDER, oid)
    return oid, made


def packed(objects: Iterable[tuple[str, bytes]]) -> Pack:
    """The pack of objects, each given by its kind and content; one that comes twice stands in it once."""
    once = {bytes.fromhex(object_id(kind, data)): (kind, data) for kind, data in objects}
    parts = [b"PACK" + struct.pack(">II", 2, len(once))]
    places, offset = [], len(parts[0])
    for oid, (kind, data) in once.items():
        stands = _head(KINDS[kind], len(data)) + zlib.compress(data, _level(data))
        places.append(Place(oid, zlib.crc32(stands), offset))
        parts.append(stands)
        offset += len(stands)
    body = b"".join(parts)
    checksum = hashlib.sha1(body).digest()
    return Pack(checksum.hex(), body + checksum, index(places, checksum))


def index(places: Sequence[Place], checksum: bytes) -> bytes:
    """The index, in git's second version, of the pack that has this checksum."""
    ordered = sorted(places, key=lambda place: place.oid)
    firsts = [0] * 256
    for place in ordered:
        firsts[place.oid[0]] += 1
    upto = [sum(firsts[: n + 1]) for n in range(256)]
    far = [place.offset for place in ordered if place.offset >= FAR]
    near = [FAR + far.index(p.offset) if p.offset >= FAR else p.offset for p in ordered]
    body = b"".join(
        (
            b"\xfftOc" + struct.pack(">I256I", 2, *upto),
            *(place.oid for place in ordered),
            struct.pack(f">{len(ordered)}I", *(place.crc for place in ordered)),
            struct.pack(f">{len(near)}I", *near),
            struct.pack(f">{len(far)}Q", *far),
            checksum,
        )
    )
    return body + hashlib.sha1(body).digest()


def _level(data: bytes) -> int:
    """How hard to compress: images and archives are as small as they get."""
    return 0 if b"\0" in data[:8192] else 1


def _head(kind: int, size: int) -> bytes:
    """Kind and size as they stand before an object's content: four bits of the size, then seven a byte, the lowest first."""
    byte, size = kind << 4 | size & 15, size >> 4
    found = bytearray()
    while size:
        found.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    return bytes(found) + bytes([byte])
