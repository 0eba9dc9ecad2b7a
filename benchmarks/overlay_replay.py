"""A fork edited in a hundred places replays a window of upstream's: what becomes of each edit, by an oracle of its own.

    python benchmarks/overlay_replay.py --upstream SLIME [--from 8ef1fb47e] [--to 624b824a8] [--seed 1] [--json]

The edits are drawn where merges are hard: 40 within three lines of a change of upstream's, 20 in functions that it moves,
10 in files that it deletes, 10 renamed files, 20 anywhere. The oracle knows nothing of merging: each edit is a line that
stands nowhere else, so it must stand once at the end, in its function and between the lines that stood around it; and
a file without the edits must be upstream's at the end, but for files in which a conflict was told.
"""

import argparse
import ast
import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from overlay_edits import Drawn, Edit, Files, draw, symbol_at

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import translated_tree
from sync_tools.replay.session import Replayed, Task, replay
from sync_tools.upstream.mirror import cache_dir

MARK = re.compile(rb"our_edit_(\d{3})")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--upstream", required=True, help="a clone of slime, bare or not")
    options.add_argument("--from", dest="first", default="8ef1fb47e")
    options.add_argument("--to", dest="last", default="624b824a8")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--workdir", type=Path, help="kept, to look at; a temporary folder by default")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    upstream = Repo.open(Path(args.upstream))
    base, tip = (files_of(upstream, rev) for rev in (args.first, args.last))
    drawn = draw(args.seed, base, tip)
    with tempfile.TemporaryDirectory() as scratch:
        place = args.workdir or Path(scratch) / "replay"
        done = replay(
            Task(args.first, args.last, place, lay(drawn, base, Path(scratch) / "overlay")), upstream, Config()
        )
        found = judge(drawn, base, tip, place, done)
    wrong = [text for texts in found.values() for text in texts]
    counts = Counter(e.kind for e in drawn.edits) + Counter(renamed=len(drawn.renames))
    value = {
        "edits": dict(counts),
        "lost": len(done.overlay_lost),
        "conflicts": [f"#{c.pr} {c.path} {c.symbol}" for c in done.conflicts],
        "crashed": len(done.crashed),
        "differing": list(done.final_tree_diff),
        "wrong": found,
        "seconds": done.seconds,
    }
    print(json.dumps(value) if args.json else "\n".join(f"{k}: {v}" for k, v in value.items()))
    return 1 if wrong or done.overlay_lost or done.crashed else 0


def files_of(upstream: Repo, rev: str) -> Files:
    blobs = translated_tree(upstream, rev, Config(), cache=cache_dir() / "translations").blobs
    return {path: blob.data for path, blob in blobs.items() if blob.mode & 0o170000 == 0o100000}


def lay(drawn: Drawn, base: Files, place: Path) -> Path:
    """The edits as a folder that `sync replay --overlay` takes."""
    shutil.rmtree(place, ignore_errors=True)
    for path, data in drawn.files(base).items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    lines = [f"{json.dumps(old)} = {json.dumps(new)}" for old, new in drawn.renames.items()]
    (place / "overlay.toml").write_text("[rename]\n" + "\n".join(lines) + "\n", "utf-8")
    return place


def judge(drawn: Drawn, base: Files, tip: Files, place: Path, done: Replayed) -> dict[str, list[str]]:
    """What is wrong in silence, by kind of mistake. A place that a conflict names may differ from upstream, but keeps its edit."""
    files = {
        p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file() and not p.is_symlink()
    }
    files = {p: data for p, data in files.items() if not p.startswith((".git/", "ledgers/"))}
    told = {c.path for c in done.conflicts}
    wrong: dict[str, list[str]] = {
        "missing": [],
        "twice": [],
        "misplaced": [],
        "broken": [],
        "differs": [],
        "renames": [],
    }
    standing: dict[int, list[str]] = {}
    for path, data in files.items():
        for found in MARK.finditer(data):
            standing.setdefault(int(found[1]), []).append(path)
    for number, edit in enumerate(drawn.edits):
        where = standing.get(number, [])
        name = f"{number:03} {edit.kind} {edit.path}:{edit.at + 1}"
        if not where:
            wrong["missing"].append(name)
        elif len(where) > 1:
            wrong["twice"].append(name)
        elif not is_in_place(edit, number, base[edit.path], files[where[0]], where[0]):
            wrong["misplaced"].append(f"{name} in {where[0]}")
    for path in sorted({p for paths in standing.values() for p in paths} | set(drawn.renames.values())):
        if path.endswith(".py") and not parses(files.get(path, b"")):
            wrong["broken"].append(path)
        if path not in told:
            wrong["differs"] += difference(path, drawn, files, tip)
    for old, new in drawn.renames.items():
        if old in files or new not in files:
            wrong["renames"].append(f"{old} -> {new}")
    return wrong


def is_in_place(edit: Edit, number: int, before: bytes, after: bytes, path: str) -> bool:
    """Between the lines that stood around it, those that stand once before and after; else in a function of its name."""
    lines, at = before.splitlines(), edit.at
    now = after.splitlines()
    mark = next(n for n, line in enumerate(now) if b"our_edit_%03d" % number in line)
    symbol = symbol_at(after, mark)
    if edit.symbol and symbol == edit.symbol:
        return True
    counts, later = Counter(lines), Counter(now)
    once = {line: n for n, line in enumerate(now) if counts[line] == later[line] == 1}
    above = next((once[line] for line in reversed(lines[:at]) if line in once), -1)
    below = next((once[line] for line in lines[at:] if line in once), len(now))
    return (above < mark < below or above > below) and (
        not edit.symbol or not path.endswith(".py") or not symbol_at_tip(edit, after)
    )


def symbol_at_tip(edit: Edit, after: bytes) -> bool:
    """Whether the file still has the function that the edit was made in."""
    return any(symbol_at(after, n) == edit.symbol for n in range(len(after.splitlines())))


def difference(path: str, drawn: Drawn, files: Files, tip: Files) -> list[str]:
    """A file that is not upstream's at the end once the edits are taken out of it."""
    old = next((o for o, new in drawn.renames.items() if new == path), path)
    plain = b"".join(line for line in files.get(path, b"").splitlines(keepends=True) if not MARK.search(line))
    return [] if plain == tip.get(old) else [path]


def parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
