"""A fork edited in a hundred places takes in a window of upstream's: what becomes of each edit, by an oracle of its own.

    python benchmarks/overlay_replay.py --upstream SLIME [--from 8ef1fb47e] [--to 624b824a8] [--seed 1] [--at-once] [--json]

The edits are drawn where merges are hard: 40 within three lines of a change of upstream's, 20 in functions that it moves,
10 in files that it deletes, 10 renamed files, 20 anywhere; and 10 functions under other names. They insert, change and
delete lines, wrap blocks, rename local names, edit imports, decorators, docstrings, tables, flags, keys, the CI matrix.

- kept: upstream wrote nothing there, and the result is the one that making the edit again on the tip gives
- merged: upstream wrote there too; the edit stands once, in its function
- conflict: told, and the edit stands on the fork's side
- wrong: lost, twice, in another place, or beside something that neither side wrote

The peer is git: `git merge-tree` of the same three trees (the import, the edited one, the import at the tip) at once.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.overlay_edits import Drawn, Files, draw
from benchmarks.overlay_oracle import OUTCOMES, Judged, Oracle
from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import translated_tree
from sync_tools.replay.session import Task, replay
from sync_tools.upstream.mirror import cache_dir

BLOCK = re.compile(rb"<{7,} [^\n]*\n(.*?)^\|{7,} [^\n]*\n.*?^={7,}\n.*?^>{7,} [^\n]*\n", re.S | re.M)


@dataclass(frozen=True)
class Taken:
    """How a window was taken in: what it told, and what stood at the end."""

    how: str
    conflicts: tuple[str, ...]
    judged: tuple[Judged, ...]
    amiss: tuple[str, ...]

    @property
    def wrong(self) -> list[str]:
        return [f"{j.edit}: {j.why}" for j in self.judged if j.outcome == "wrong"] + list(self.amiss)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--upstream", required=True, help="a clone of slime, bare or not")
    options.add_argument("--from", dest="first", default="8ef1fb47e")
    options.add_argument("--to", dest="last", default="624b824a8")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--at-once", action="store_true", help="port the window as one branch too, and compare")
    options.add_argument("--workdir", type=Path, help="kept, to look at; a temporary folder by default")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    upstream = Repo.open(Path(args.upstream))
    base, tip = (files_of(upstream, rev) for rev in (args.first, args.last))
    drawn = draw(args.seed, base, tip)
    with tempfile.TemporaryDirectory() as scratch:
        place = args.workdir or Path(scratch) / "replay"
        overlay = lay(drawn, base, place.with_name(f"{place.name}-overlay"))
        done = replay(Task(args.first, args.last, place, overlay), upstream, Config())
        told = [(c.path, c.symbol, f"#{c.pr} {c.path} {c.symbol}") for c in done.conflicts]
        taken = [judge("replay", drawn, base, tip, read(place), told, place)]
        if args.at_once:
            taken.append(at_once(args, drawn, base, tip, place))
        peer = git_conflicts(place)
    value = {
        "seed": args.seed,
        "edits": dict(Counter(e.kind for e in drawn.edits) + Counter(renamed=len(drawn.renames))),
        "taken": {t.how: as_value(t) for t in taken},
        "git_conflicts": peer,
        "lost": [f"{x.path}:{x.line} {x.symbol} {x.what}" for x in done.overlay_lost],
        "crashed": [c.what for c in done.crashed],
        "differing": list(done.final_tree_diff),
        "seconds": done.seconds,
    }
    print(json.dumps(value) if args.json else "\n".join(table(value, taken)))
    return 1 if any(t.wrong for t in taken) or done.overlay_lost or done.crashed else 0


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


def read(place: Path) -> Files:
    """The files of a worktree, with the fork's side of each conflict."""
    found = (p for p in place.rglob("*") if p.is_file() and not p.is_symlink())
    files = {p.relative_to(place).as_posix(): BLOCK.sub(rb"\1", p.read_bytes()) for p in found}
    return {p: data for p, data in files.items() if p != ".git" and not p.startswith((".git/", "ledgers/"))}


def judge(
    how: str,
    drawn: Drawn,
    base: Files,
    tip: Files,
    final: Files,
    told: Collection[tuple[str, str, str]],
    place: Path,
) -> Taken:
    """Of the fork that stands at `place`, with its ledgers."""
    places = {*((path, symbol) for path, symbol, _ in told), *open_places(place)}
    oracle = Oracle(drawn, base, tip, final, places, diverged_paths(place))
    return Taken(how, tuple(text for *_, text in told), tuple(oracle.edits()), tuple(oracle.files()))


def at_once(args: argparse.Namespace, drawn: Drawn, base: Files, tip: Files, place: Path) -> Taken:
    """The same fork with the window as one branch; the fork is what the replay had committed before the first port."""
    fork = place.with_name(f"{place.name}-fork")
    shutil.rmtree(fork, ignore_errors=True)
    git(place.parent, "clone", "-q", "--no-local", "-c", "core.autocrlf=false", str(place), str(fork))
    git(fork, "checkout", "-q", "-B", "main", edited(place))
    words = ["--cutoff", args.first, "--tip", args.last, "--as", "window", "--json"]
    command = [sys.executable, "-m", "sync_tools", "port", *words, "--repo", str(fork), "--upstream", args.upstream]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    value = json.loads(done.stdout)
    if "error" in value:
        raise SystemExit(f"the window was not ported: {value['error']}")
    if value["worktree"] is None:
        git(fork, "checkout", "-q", value["branch"])
    told = {
        (c["path"], c["symbol"], f"{c['path']} {c['symbol']}") for port in value["ports"] for c in port["conflicts"]
    }
    where = Path(value["worktree"] or fork)
    return judge("at once", drawn, base, tip, read(where), sorted(told), where)


def open_places(place: Path) -> set[tuple[str, str]]:
    """The fork's places that open entries of the ledgers name."""
    found = [e for e in entries(place) if e["op"] in ("absent", "deferred", "conflict")]
    return {(e["downstream"]["path"] or "", e["upstream"]["symbol"] or "") for e in found}


def diverged_paths(place: Path) -> set[str]:
    """The fork's files of which an open entry says that their lines are others."""
    return {e["downstream"]["path"] or "" for e in entries(place) if (e["op"], e["state"]) == ("diverged", "open")}


def entries(place: Path) -> list[dict[str, Any]]:
    ledgers = [json.loads(p.read_text("utf-8")) for p in (place / "ledgers").glob("*.json")]
    return [e for ledger in ledgers for e in ledger["entries"]]


def edited(place: Path) -> str:
    """The commit of a replay that laid the edits: the child of the import."""
    return git(place, "rev-list", "--first-parent", "--reverse", "main").split()[1]


def git_conflicts(place: Path) -> int:
    """How many places conflict where git merges the same trees: one for each block of markers or file that it cannot merge."""
    command = ["git", "-C", str(place), "merge-tree", "--write-tree", "-z", edited(place), "import"]
    said = subprocess.run(command, capture_output=True, check=False).stdout.split(b"\0")
    tree, stages = said[0].decode(), said[1 : said.index(b"")] if b"" in said else []
    total = 0
    for path in {stage.partition(b"\t")[2] for stage in stages}:
        name = f"{tree}:{path.decode()}"
        shown = subprocess.run(["git", "-C", str(place), "show", name], capture_output=True, check=False).stdout
        total += max(len(re.findall(rb"^<{7} ", shown, re.M)), 1)
    return total


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(place), *words], capture_output=True, text=True, check=True).stdout.strip()


def as_value(taken: Taken) -> dict[str, object]:
    return {
        "outcomes": {kind: dict(row) for kind, row in rows(taken).items()},
        "ways": {way: dict(row) for way, row in rows(taken, "way").items()},
        "conflicts": list(taken.conflicts),
        "merged": [str(j.edit) for j in taken.judged if j.outcome == "merged"],
        "wrong": taken.wrong,
    }


def rows(taken: Taken, by: str = "kind") -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for judged in taken.judged:
        found.setdefault(getattr(judged.edit, by), Counter())[judged.outcome] += 1
    return found


def table(value: dict[str, object], taken: Iterable[Taken]) -> Iterable[str]:
    for t in taken:
        for by in ("kind", "way"):
            yield f"{t.how:<16}" + "".join(f"{name:>10}" for name in OUTCOMES)
            for name, row in rows(t, by).items():
                yield f"  {name:<14}" + "".join(f"{row[o]:>10}" for o in OUTCOMES)
        yield f"  conflicts told: {len(t.conflicts)}; git merge-tree: {value['git_conflicts']}"
        yield from (f"  wrong: {text}" for text in t.wrong)
    yield from (f"{key}: {value[key]}" for key in ("edits", "lost", "crashed", "differing", "seconds"))


if __name__ == "__main__":
    sys.exit(main())
