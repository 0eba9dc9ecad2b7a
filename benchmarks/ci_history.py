"""Upstream's own history as a test of the template port: every commit that touched the CI template or its workflow.

    python benchmarks/ci_history.py --upstream SLIME [--from REV] [--to REV] [--json]

`rendered_equal`: the commit's template renders to its workflow, byte for byte below the banner. `delta_equal`: the
commit's change of the template, taken as a change of the matrix and made to the parent's template, gives the commit's
matrix: jobs, options, rows, shared lists, and the order of each. The short cut for an unedited template is not taken.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sync_tools.ci.matrix import parse
from sync_tools.ci.port import settle
from sync_tools.ci.render import render, split_banner

TEMPLATE, WORKFLOW = ".github/workflows/pr-test.yml.j2", ".github/workflows/pr-test.yml"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--upstream", required=True, help="a clone of slime, bare or not")
    options.add_argument("--from", dest="start", default="8ef1fb47e")
    options.add_argument("--to", dest="end", default="624b824a8")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()

    window = f"{args.start}..{args.end}"
    commits = _git(args.upstream, "log", "--first-parent", "--format=%H", window, "--", TEMPLATE, WORKFLOW).split()
    rendered = {commit: rendered_equal(args.upstream, commit) for commit in map(bytes.decode, commits)}
    deltas = {commit: delta_equal(args.upstream, commit) for commit in rendered}
    counts = {"commits": len(rendered), "rendered_equal": sum(rendered.values()), "delta_equal": sum(deltas.values())}
    for commit in () if args.json else [c for c in rendered if not (rendered[c] and deltas[c])]:
        print(f"{commit[:9]}: rendered_equal {rendered[commit]}, delta_equal {deltas[commit]}")
    print(json.dumps(counts) if args.json else " ".join(f"{name} {count}" for name, count in counts.items()))
    return 0


def rendered_equal(upstream: str, commit: str) -> bool:
    body = render(_git(upstream, "show", f"{commit}:{TEMPLATE}"))
    committed = _git(upstream, "show", f"{commit}:{WORKFLOW}")
    return committed == split_banner(committed, body) + body


def delta_equal(upstream: str, commit: str) -> bool:
    before, after = (
        parse(_git(upstream, "show", f"{rev}:{TEMPLATE}").decode(), TEMPLATE) for rev in (f"{commit}^", commit)
    )
    return parse(settle(before, before, after).ours, TEMPLATE).matrix == after.matrix


def _git(upstream: str, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", upstream, *arguments], capture_output=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
