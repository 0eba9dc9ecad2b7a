"""`sync ledger worksheet`: what upstream changed on the paths that the fork owns, beside what the fork has there."""

import sys
from dataclasses import asdict
from pathlib import Path

from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.files import write_out
from sync_tools.formatters import format_bytes
from sync_tools.ledger.desk import Desk
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.show import console
from sync_tools.ledger.worksheet import Sheet, worksheets
from sync_tools.ledger.worksheetpage import page, show
from sync_tools.plural import counted
from sync_tools.policy import matches
from sync_tools.port.file import Setting, translate_image
from sync_tools.port.style import seam_style
from sync_tools.terminal import clean, print_json
from sync_tools.translate import Translator
from sync_tools.translate.result import Translation
from sync_tools.tree import Tree
from sync_tools.upstream.changeset import Image
from sync_tools.upstream.collect import collect
from sync_tools.upstream.mirror import cache_dir
from sync_tools.upstream.resolve import Landing


def run(settings: Settings, number: str, only: str, out: Path | None) -> int:
    """Print the worksheets of a port, or write them as a page; 1 while one waits. Raises SyncError without upstream."""
    ledger, tree = Desk(settings.repo, settings.config).find(number)
    found = [
        s for s in _sheets(settings, ledger, tree) if not only or any(matches(only, p) for p in (s.path, s.upstream))
    ]
    open_ = sum(sheet.state == "open" for sheet in found)
    if out is not None:
        title = f"Worksheets of {ledger.upstream.ref}: {ledger.upstream.title}"
        write_out(out, page(found, title, number).encode("utf-8", "replace"))
    if settings.json:
        print_json({"sheets": [asdict(sheet) for sheet in found], "open": open_, "written": str(out) if out else None})
    elif out is not None:
        print(clean(f"wrote {out}: {counted(len(found), 'worksheet')}, {open_} open"))
    elif found:
        show(console(sys.stdout), found, number)
    else:
        print(f"no worksheet: {number} touches no path that sync.toml keeps for the fork alone")
    return 1 if open_ else 0


def _sheets(settings: Settings, ledger: Ledger, tree: Tree) -> tuple[Sheet, ...]:
    config, upstream, origin = settings.config, settings.upstream, ledger.upstream
    if upstream.commit_of(origin.commit) is None:
        raise SyncError("upstream lacks the commit of the ledger", origin.commit[:12], "fetch upstream again")
    setting = Setting(
        tree=tree,
        config=config,
        translator=Translator(config, seam_style(tree, config), cache_dir() / "translations"),
        format=lambda path, data: format_bytes(path, data, config.formatting),
        removed_by=lambda _: None,
    )

    def translate(image: Image) -> Translation:
        return translate_image(image, setting) or Translation(b"")

    def fork(path: str) -> bytes | None:
        blob = tree.blob(path)
        return blob.data if blob else None

    changes = collect(upstream, Landing(origin.pr, origin.commit))
    return worksheets(ledger, changes.files, translate, fork, config)
