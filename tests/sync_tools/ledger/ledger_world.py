"""A small upstream, a fork of it, and a port between them, made by hand: a stub translator and git's own file merge."""

import difflib
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from sync_tools.config import Config
from sync_tools.ledger.account import ledger
from sync_tools.ledger.landing import Landing, Rules
from sync_tools.ledger.lines import split
from sync_tools.merge.result import Conflict, Merged
from sync_tools.outcome import FileOutcome
from sync_tools.policy import policy_for
from sync_tools.translate.result import Application, Site, Translation
from sync_tools.tree import Blob, MemoryTree, Overlay
from sync_tools.upstream.changeset import ChangeSet, FileChange, Hunk, Image, Person

COMMIT, PARENT = "c" * 40, "b" * 40
WORKFLOW = ".github/workflows/pr-test.yml"
TABLE = {
    "slime": ("SY201", "vime"),
    "sglang": ("SY202", "vllm"),
    "max_new_tokens": ("SY101", "max_tokens"),
    "--sglang-mem-fraction-static": ("SY301", "--vllm-gpu-memory-utilization"),
    "--sglang-enable-metrics ": ("SY302", ""),
}
WORDS = re.compile("|".join(re.escape(w) for w in sorted(TABLE, key=len, reverse=True)))


def translate(path: str, data: bytes) -> Translation:
    """Words by a table; a line that holds only a dropped flag goes; a call of `image_data` is left and reported."""
    uses, sites, out = [], [], []
    for n, raw in enumerate(re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "surrogateescape")), 1):
        for m in WORDS.finditer(raw):
            rule, after = TABLE[m[0]]
            uses.append(Application(n, m.start() + 1, rule, m[0], after))
        if "image_data" in raw:
            sites.append(Site(n, 1, n, "image_data", "the token route takes none"))
        new = WORDS.sub(lambda m: TABLE[m[0]][1], raw)
        if new == raw or re.search(r"\w", new):
            out.append(new)
    return Translation("".join(out).encode("utf-8", "surrogateescape"), tuple(uses), tuple(sites))


def place(path: str) -> str:
    return path.replace("slime", "vime").replace("sglang", "vllm")


RULES = Rules(Config(), translate, place, lambda path: path == WORKFLOW)


def file_change(before: Image | None, after: Image | None, similarity: int = 100, binary: bool = False) -> FileChange:
    hunks = () if binary else tuple(_hunks(before.data if before else b"", after.data if after else b""))
    if before is None or after is None:
        kind = "added" if before is None else "deleted"
    elif before.path != after.path:
        kind = "renamed"
    else:
        kind = "mode" if before.data == after.data else "modified"
    return FileChange(kind, before, after, similarity, binary, hunks)


def _hunks(old: bytes, new: bytes):
    a, b = re.findall(rb"[^\n]*\n|[^\n]+", old), re.findall(rb"[^\n]*\n|[^\n]+", new)
    for tag, i0, i1, j0, j1 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Hunk(i0 + (i1 > i0), i1 - i0, j0 + (j1 > j0), j1 - j0)


def change_set(
    files: list[FileChange], pr: int = 1921, subject: str = "Add streaming (#1921)", commit: str = COMMIT
) -> ChangeSet:
    author = Person("Ada", "ada@example.org", "1779156828 +0700")
    return ChangeSet(pr, commit, PARENT, subject, "", author, (), tuple(sorted(files, key=lambda f: f.path)))


@dataclass(frozen=True)
class Port:
    changes: ChangeSet
    outcomes: tuple[FileOutcome, ...]
    landing: Landing


def port(
    changes: ChangeSet, fork: MemoryTree | Overlay, config: Config | None = None, path: str = "ledgers/slime-1921.json"
) -> Port:
    """An honest port: translate, merge, account."""
    config = config or Config()
    rules = Rules(config, translate, place, RULES.generated)
    outcomes = tuple(outcome(f, fork, rules) for f in changes.files)
    written = Overlay(fork, {o.old_path: None for o in outcomes if o.old_path} | {o.path: o.final for o in outcomes})
    return Port(changes, outcomes, Landing(path, ledger(changes, outcomes, config), written, fork))


def outcome(change: FileChange, fork, rules: Rules) -> FileOutcome:
    policy, path = policy_for(rules.config, change.path), place(change.path)
    ours = fork.blob(path)
    if policy and policy.action == "skip":
        return FileOutcome(change, path, "dropped", policy.reason, ours=ours, final=ours)
    if rules.generated(path):
        return FileOutcome(change, path, "generated", ours=ours, final=Blob(b"made again\n"))
    old_path = place(change.before.path) if change.kind == "renamed" else None
    ours = ours or (fork.blob(old_path) if old_path else None)
    if change.before and ours is None:
        return FileOutcome(change, path, "absent", "removed by the fork in 1234567")
    text = not change.binary and all(i.mode != 0o120000 for i in (change.before, change.after) if i)
    before = translate(change.before.path, change.before.data) if change.before and text else None
    after = translate(change.after.path, change.after.data) if change.after and text else None
    if change.before is None and ours is not None:
        return FileOutcome(change, path, "present", before=before, after=after, ours=ours, final=ours)
    merged = None
    if change.after is None:
        final = None
    elif not text or ours is None or change.before is None:
        final = Blob(after.data if after else change.after.data, change.after.mode)
    else:
        merged = merge(before.data, ours.data, after.data)
        final = Blob(merged.final, change.after.mode)
    edited = before is not None and ours is not None and ours.data != before.data
    return FileOutcome(change, path, "merged", "", old_path, before, after, merged, ours, final, final, edited)


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / n for n in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs)):
            name.write_bytes(data)
        done = subprocess.run(
            ["git", "merge-file", "-p", "--diff3", *map(str, names)], capture_output=True, check=False
        )
    whole = [(0, len(split(x))) for x in (base, ours, theirs)]
    conflicts = (Conflict("", *whole),) if done.returncode else ()
    return Merged(ours, done.stdout, conflicts)


@dataclass(frozen=True)
class Files:
    """Upstream's images of some files."""

    before: dict[str, bytes] = field(default_factory=dict)
    after: dict[str, bytes] = field(default_factory=dict)

    def changes(self) -> list[FileChange]:
        return [
            file_change(image(p, self.before.get(p)), image(p, self.after.get(p)))
            for p in sorted(self.before.keys() | self.after.keys())
            if self.before.get(p) != self.after.get(p)
        ]

    def fork(self) -> MemoryTree:
        return MemoryTree({place(p): Blob(translate(p, data).data) for p, data in self.before.items()})


def image(path: str, data: bytes | None, mode: int = 0o100644) -> Image | None:
    return None if data is None else Image(path, mode, data)


def module(name: str, functions: int, changed: tuple[int, ...] = (), extra: str = "") -> bytes:
    """A module of small functions, some of which speak of the engine; `changed` ones have another body."""
    parts = ["import asyncio", "from slime.utils import http_utils", "", ""]
    for n in range(functions):
        new = f"    limit = {{'max_new_tokens': {n} + 1}}\n" if n in changed and n % 2 else ""
        value = f"{name}_{n} + 1" if n in changed else f"{name}_{n}"
        parts += [
            f"def step_{n}({name}_{n}, slime_args):",
            f"{new}    first = {value}",
            f"    return first * {n}",
            "",
            "",
        ]
    return "\n".join(parts).rstrip("\n").encode() + b"\n" + extra.encode()


def sample() -> tuple[Files, MemoryTree]:
    """A change that meets every operation but `conflict`, and a fork with edits of its own."""
    launch = b"ARGS=(\n   --hf slime\n   --sglang-mem-fraction-static 0.7\n)\n"
    relaunch = launch.replace(b"0.7\n", b"0.8\n   --sglang-enable-metrics \n   --lr 1\n")
    files = Files(
        before={
            "slime/rollout/sglang_rollout.py": module("alpha", 8),
            "slime/utils/data.py": module("beta", 6),
            "slime/ray/group.py": module("gamma", 6),
            "scripts/run.sh": launch,
            "docs/en/usage.md": b"# Usage\n\nslime runs sglang.\n",
            "examples/gone/README.md": b"old\n",
            "examples/old.py": module("delta", 3),
            "docker/patch/latest/sglang.patch": b"-old\n",
            WORKFLOW: b"jobs: {}\n",
        },
        after={
            "slime/rollout/sglang_rollout.py": module(
                "alpha", 8, (1, 2, 5), "\n\ndef show(x):\n    return x.image_data\n"
            ),
            "slime/utils/data.py": module("beta", 6, (0, 3)),
            "slime/ray/group.py": module("gamma", 6, (2, 3, 4)),
            "slime/rollout/streaming.py": module("omega", 6, (1, 3)),
            "slime/utils/there.py": module("theta", 3),
            "scripts/run.sh": relaunch,
            "docs/en/usage.md": b"# Usage\n\nslime runs sglang.\n\nWith max_new_tokens.\n",
            "examples/gone/README.md": b"new\n",
            "docker/patch/latest/sglang.patch": b"+new\n+more\n",
            WORKFLOW: b"jobs: {a: 1}\n",
        },
    )
    fork = dict(files.fork().files)
    del fork["examples/gone/README.md"]
    fork["vime/utils/there.py"] = Blob(module("theta", 3).replace(b"slime", b"vime") + b"\n\nOURS = 1\n")
    data = fork["vime/utils/data.py"].data
    fork["vime/utils/data.py"] = Blob(b'"""Ours."""\n\n' + data + b"\n\ndef own():\n    return 1\n")
    return files, MemoryTree(fork)
