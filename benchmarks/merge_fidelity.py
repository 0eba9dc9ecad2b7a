"""Merges against people: what a fork's maintainers made of an upstream change, beside what merging it gives.

    python benchmarks/merge_fidelity.py --upstream SLIME --fork MILES --pairs PAIRS.json --json

PAIRS.json holds {"pairs": [{"upstream": COMMIT, "fork": COMMIT}, ...]}: the same change in both. Each upstream commit is
merged onto the fork as it was before its own commit, file by file, and compared with that commit. A file counts where
both commits modified it (`--diff-filter=M --no-renames`) and both sides had it before and after.

`sync` is this project's merge on text that its translator brought under the fork's names, configured for this fork
(the engine stays); `git` is `git merge-file` on the
text as it is, `git_renamed` on text with the plain name replaced, as `sed` would; `wiggle` merges what `git_renamed` does.

- reachable: the person's file has no line outside base, ours and theirs
- ours_lost: lines that the fork had over base, that the person kept, and that a merge lacks
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.merge_others import Other, Sides, other, own_lines
from sync_tools.config import Config, Rename, Repository
from sync_tools.merge.file import merge_file
from sync_tools.merge.lines import split
from sync_tools.translate import Translator

NAMES = {"slime": "miles", "Slime": "Miles", "SLIME": "MILES"}
FORK = Config(
    fork="miles",
    engine="same",
    names=(Rename(old="slime", new="miles"),),
    repositories=tuple(Repository(old=old, new="radixark/miles") for old in ("THUDM/slime", "slimerl/slime")),
    policies=(),
)


@dataclass(frozen=True)
class Case:
    """One file: upstream's before and after under upstream's names, the fork's before and after."""

    commit: str
    path: str
    upstream_path: str
    base: bytes
    theirs: bytes
    ours: bytes
    person: bytes


@dataclass(frozen=True)
class Outcome:
    """`data` holds markers where `clean` is False; `where` names what conflicts."""

    data: bytes
    clean: bool
    where: tuple[str, ...] = ()


@dataclass
class Score:
    files: int = 0
    exact: int = 0
    clean_different: int = 0
    conflict: int = 0
    reachable: int = 0
    exact_of_reachable: int = 0
    ours_lost: int = 0


Merge = Callable[[str, bytes, bytes, bytes], Outcome]
Respell = Callable[[str, bytes], bytes]


class Objects:
    """Blobs of a repository, through one `git cat-file`."""

    def __init__(self, repository: str) -> None:
        self.repository = repository
        command = ["git", "-C", repository, "cat-file", "--batch"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def blob(self, revision: str, path: str) -> bytes | None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{revision}:{path}\n".encode())
        self._process.stdin.flush()
        kind, size = self._process.stdout.readline().split()[-2:]
        if size == b"missing" or kind == b"missing":
            return None
        data = self._process.stdout.read(int(size) + 1)[:-1]
        return data if kind == b"blob" else None

    def modified(self, commit: str) -> list[str]:
        command = ["diff", "--diff-filter=M", "--no-renames", "--name-only", "-z", f"{commit}^", commit]
        out = subprocess.run(["git", "-C", self.repository, *command], check=True, capture_output=True).stdout
        return out.decode().split("\0")[:-1]

    def close(self) -> None:
        self._process.communicate()


def renamed(data: bytes) -> bytes:
    for old, new in NAMES.items():
        data = data.replace(old.encode(), new.encode())
    return data


def cases(upstream: Objects, fork: Objects, pairs: list[dict[str, str]]) -> Iterator[Case]:
    for pair in pairs:
        theirs = {renamed(path.encode()).decode(): path for path in upstream.modified(pair["upstream"])}
        for path in fork.modified(pair["fork"]):
            if path not in theirs:
                continue
            blobs = [upstream.blob(pair["upstream"] + at, theirs[path]) for at in ("^", "")]
            blobs += [fork.blob(pair["fork"] + at, path) for at in ("^", "")]
            if all(blob is not None for blob in blobs):
                yield Case(pair["upstream"], path, theirs[path], *blobs)  # type: ignore[arg-type]


def sync(path: str, base: bytes, ours: bytes, theirs: bytes) -> Outcome:
    result = merge_file(path, base, ours, theirs)
    return Outcome(result.final, not result.conflicts, tuple(dict.fromkeys(c.symbol for c in result.conflicts)))


def git(path: str, base: bytes, ours: bytes, theirs: bytes) -> Outcome:
    return _by_command(["git", "merge-file", "-p", "ours", "base", "theirs"], base, ours, theirs)


def wiggle(path: str, base: bytes, ours: bytes, theirs: bytes) -> Outcome:
    return _by_command(["wiggle", "-m", "ours", "base", "theirs"], base, ours, theirs)


def _by_command(command: list[str], base: bytes, ours: bytes, theirs: bytes) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
            Path(folder, name).write_bytes(data)
        done = subprocess.run(command, cwd=folder, capture_output=True)
    return Outcome(done.stdout, done.returncode == 0)


def score(found: list[Case], merge: Merge, respell: Respell) -> tuple[Score, list[Other]]:
    """The figures, and a line on each file that did not come out as the person made it."""
    total = Score()
    others = []
    for case in found:
        base, theirs = (respell(case.upstream_path, data) for data in (case.base, case.theirs))
        outcome = merge(case.path, base, case.ours, theirs)
        sides = Sides(base, case.ours, theirs, case.person)
        reachable = not own_lines(sides)
        exact = outcome.clean and outcome.data == case.person
        total.files += 1
        total.exact += exact
        total.conflict += not outcome.clean
        total.clean_different += outcome.clean and not exact
        total.reachable += reachable
        total.exact_of_reachable += exact and reachable
        total.ours_lost += _lost(base, case.ours, case.person, outcome.data)
        if not exact:
            others.append(other(case.commit, case.path, outcome.data, outcome.clean, outcome.where, sides))
    return total, others


def _lost(base: bytes, ours: bytes, person: bytes, merged: bytes) -> int:
    b, o, p, m = (Counter(split(data)) for data in (base, ours, person, merged))
    return sum(max(0, min(o[line], p[line]) - m[line]) for line in o - b)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--fork", required=True)
    parser.add_argument("--pairs", required=True, type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    upstream, fork = Objects(args.upstream), Objects(args.fork)
    found = list(cases(upstream, fork, json.loads(args.pairs.read_text())["pairs"]))
    upstream.close()
    fork.close()
    translator = Translator(FORK)
    runs: dict[str, tuple[Merge, Respell]] = {"sync": (sync, lambda path, data: translator.file(path, data).data)}
    runs["git"] = (git, lambda _, data: data)
    runs["git_renamed"] = (git, lambda _, data: renamed(data))
    if shutil.which("wiggle"):
        runs["wiggle"] = (wiggle, lambda _, data: renamed(data))
    scores = {name: score(found, merge, respell) for name, (merge, respell) in runs.items()}
    result = {name: asdict(scores[name][0]) if name in scores else None for name in (*runs, "wiggle")}
    if args.json:
        print(json.dumps({"schema": 1, **result, "others": [asdict(o) for o in scores["sync"][1]]}, indent=1))
        return
    print("".join(f"{column:>20}" for column in ("", *asdict(Score()))))
    for name, figures in result.items():
        print(f"{name:>20}" + ("".join(f"{n:>20}" for n in figures.values()) if figures else "  not installed"))
    for o in scores["sync"][1]:
        print(f"{o.commit} {o.file}: {o.verdict}: {o.why}" + (f" ({o.reading})" if o.reading else ""))


if __name__ == "__main__":
    main()
