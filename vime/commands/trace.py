"""`vime trace RUN`: the spans of a run's samples, for the viewers of Chrome and Perfetto."""

import json
import sys
from collections.abc import Sequence

from vime.commands.report import WrongWords, folder_and_out, latest
from vime.observability.run_read import NoRun, read_run
from vime.observability.spans import chrome_events
from vime.utils.atomic_file import write_atomic

USAGE = """vime trace RUN [--out FILE]

Writes what the logged samples of a run spent their time on, as JSON for https://ui.perfetto.dev or chrome://tracing.

  RUN          the folder of the run's log, or a folder of runs, of which the latest is taken
  --out FILE   where to write; RUN/trace.json when left out
"""


def run(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 where there is no such run, no span in it, or the words are wrong."""
    try:
        folder, out = folder_and_out(argv)
        log = read_run(latest(folder))
        events = list(chrome_events(log))
        if not events:
            raise NoRun(f"{log.folder}: no sample of this run has a trace")
        text = json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})
        path = write_atomic(out or log.folder / "trace.json", text.encode(), durable=False)
    except WrongWords as wrong:
        print(f"error: {wrong}\n\n{USAGE}", end="", file=sys.stderr)
        return 2
    except (NoRun, OSError) as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    print(f"{path}: {len(events)} events")
    return 0
