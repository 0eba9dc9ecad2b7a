"""A template in the form that the tests share, and a textual merge made by git."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sync_tools.merge.result import Conflict, Merged

HEAD = """name: PR Test

on:
  pull_request:
    branches: [main]

jobs:
<% for job_name, config in jobs.items() %>
  << job_name >>:
    if: contains(github.event.pull_request.labels.*.name, '<< config.label >>')
    runs-on: << config.get('runner', 'self-hosted') >>
    strategy:
      matrix:
        info: << config.tests | tojson >>
    steps:
      - run: python tests/${{ matrix.info.test_file }}
<% endfor %>
"""


def row(name: str, gpus: int = 8, **options: str) -> str:
    return repr({"test_file": f"test_{name}.py", "num_gpus": gpus, **options})


def template(
    jobs: dict[str, Sequence[str] | str], lists: dict[str, Sequence[str]] | None = None, head: str = HEAD
) -> str:
    """Jobs with rows, or with the name of a list; `label` is `run-ci-` and the job's name."""
    text = ""
    for name, rows in (lists or {}).items():
        text += f"<% set {name} = [\n" + "".join(f"    {r},\n" for r in rows) + "] %>\n"
    text += "<% set jobs = {\n"
    for name, rows in jobs.items():
        tests = rows if isinstance(rows, str) else "[\n" + "".join(f"        {r},\n" for r in rows) + "      ]"
        text += f"    '{name}': {{\n      'label': 'run-ci-{name}',\n      'tests': {tests},\n    }},\n"
    return text + "} %>\n" + head


def git_merge(path: str, base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """What `git merge-file` makes of it; a conflict's ranges are those of its marked lines."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for file, data in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(data)
        command = ["git", "merge-file", "-p", "--diff3", *map(str, files)]
        final = subprocess.run(command, capture_output=True, check=False).stdout
    return Merged(final, final, tuple(_conflicts(path, final.decode("utf-8", "replace").splitlines())))


def _conflicts(path: str, lines: list[str]) -> list[Conflict]:
    found, at, side, counts = [], [0, 0, 0], None, [0, 0, 0]
    marks = {"<<<<<<<": 1, "|||||||": 0, "=======": 2}
    for line in lines:
        if side is None and line[:7] != "<<<<<<<":
            at = [n + 1 for n in at]
        elif line[:7] in marks:
            side = marks[line[:7]]
        elif line[:7] == ">>>>>>>":
            base, ours, theirs = ((a, a + n) for a, n in zip(at, counts, strict=True))
            found.append(Conflict(path, base, ours, theirs))
            at = [a + n for a, n in zip(at, counts, strict=True)]
            side, counts = None, [0, 0, 0]
        else:
            assert side is not None
            counts[side] += 1
    return found
