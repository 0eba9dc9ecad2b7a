"""The `set` blocks of a template around the merged matrix: which lists come and go, and the text of each block."""

from collections.abc import Collection, Iterator, Mapping

from sync_tools.ci.literal import Block, names, set_blocks
from sync_tools.ci.matrix import Template
from sync_tools.ci.rows import without_rows
from sync_tools.ci.sides import Side
from sync_tools.ci.views import Span, Views, concatenated, splice

JOBS = ""
"""The jobs dict's place among the blocks; what its variable is called does not matter."""


def merged_blocks(before: Template, ours: Template, after: Side, edits: Mapping[Span, Views]) -> dict[str, Views]:
    """The text of each matrix block of ours after the merge: a list that upstream gave up and nothing uses is empty,
    and a list that upstream made stands at the head of the block that it precedes upstream."""
    texts = {name: splice(ours.text, (b.start, b.end), edits) for name, b in _blocks(ours).items()}
    used = set(_names_in(texts[JOBS].ours)) | {n for b in ours.lists for n in names(b.value)}
    theirs = _blocks(after.template)
    for name in _blocks(before).keys() & texts.keys() - theirs.keys():
        if name not in used and _rows(before, name) == _rows(ours, name):
            texts[name] = Views.same("")
    waiting = ""
    theirs_use = {n for b in theirs.values() for n in names(b.value)}
    for name, block in theirs.items():
        if name in texts:
            texts[name] = concatenated([Views.same(waiting), texts[name]])
            waiting = ""
        elif name in used or (name not in theirs_use and name not in _blocks(before)):
            text = splice(after.template.text, (block.start, block.end), without_rows(after.template, after.gone(name)))
            waiting += text.ours.replace("\r\n", "\n").replace("\n", "\r\n" if "\r\n" in ours.text else "\n")
    return texts


def with_blocks(template: Template, texts: Mapping[str, str], but: Collection[str] = ()) -> str:
    """The template with other text for each of its matrix blocks; without those that have none, and those named in
    `but`, which one side alone has and no text merge may touch."""
    edits = {
        (b.start, b.end): Views.same("" if name in but else texts.get(name, ""))
        for name, b in _blocks(template).items()
    }
    return splice(template.text, (0, len(template.text)), edits).ours


def one_sided(before: Template, after: Template) -> frozenset[str]:
    """The blocks that upstream made or gave up."""
    return frozenset(_blocks(before).keys() ^ _blocks(after).keys())


def _blocks(template: Template) -> dict[str, Block]:
    """The matrix blocks in their order, the jobs dict as JOBS."""
    assert template.jobs_block is not None
    blocks = sorted((*template.lists, template.jobs_block), key=lambda b: b.start)
    return {JOBS if b is template.jobs_block else b.name: b for b in blocks}


def _rows(template: Template, name: str) -> list[frozenset[tuple[str, str]]]:
    return [node.row.key for node in template.named[name]]


def _names_in(block: str) -> Iterator[str]:
    for found in set_blocks(block):
        yield from names(found.value)
