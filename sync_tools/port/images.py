"""A file of upstream's as the fork would have it: what a port merges, and what a ledger is checked against."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sync_tools.config import Config
from sync_tools.policy import policy_for
from sync_tools.translate import Translator
from sync_tools.translate.result import Translation

Format = Callable[[str, bytes], bytes]
TEMPLATE = ".j2"


def translation(path: str, data: bytes, config: Config, translator: Translator, format: Format) -> Translation:
    """The translation of a file, formatted as the fork formats, its CI rows naming the fork's tests."""
    found = unformatted(path, translator.file(path, data), config, translator)
    return replace(found, data=format(translator.path(path), found.data))


def unformatted(path: str, found: Translation, config: Config, translator: Translator) -> Translation:
    """A file that was translated, its CI rows naming the fork's tests."""
    return replace(found, data=_folded(found.data, config, translator)) if path.endswith(TEMPLATE) else found


def matrix_name(name: str, config: Config, translator: Translator) -> str:
    """One word of the matrix (a job, a label, a test's file) in the fork's words; a test that lives in another file of
    the fork is that file's."""
    tests = config.ci.tests
    policy = policy_for(config, f"{tests}/{name}")
    if policy and policy.into:
        return policy.into.removeprefix(f"{tests}/")
    return translator.file("matrix.txt", name.encode()).data.decode()


def _folded(template: bytes, config: Config, translator: Translator) -> bytes:
    """A translated template in which the tests that live in another file of the fork are named as that file. A row that
    the file has already goes: a job runs it once."""
    tests = f"{config.ci.tests}/"
    lines = template.split(b"\n")
    for policy in config.policies:
        if policy.into and policy.match.startswith(tests):
            old = translator.file("matrix.txt", policy.match.removeprefix(tests).encode()).data
            lines = list(_renamed_rows(lines, old, policy.into.removeprefix(tests).encode()))
    return b"\n".join(lines)


def _renamed_rows(lines: Sequence[bytes], old: bytes, new: bytes) -> Iterator[bytes]:
    seen: set[bytes] = set()
    for line in lines:
        if b"[" in line:
            seen = set()
        row = line.replace(b"'" + old + b"'", b"'" + new + b"'").replace(b'"' + old + b'"', b'"' + new + b'"')
        if row == line or row.strip().rstrip(b",") not in seen:
            yield row
        seen.add(row.strip().rstrip(b","))
