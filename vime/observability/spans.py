"""The spans of samples in the form that Chrome's and Perfetto's viewers read.

Their "Trace Event Format": a rollout is a process there and a sample a thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vime.observability.run_read import Run, moment

Event = Mapping[str, Any]


def chrome_events(run: Run) -> Iterator[dict[str, Any]]:
    """A complete event ("X", microseconds) for each span that ended, an instant one ("i") for each mark, and names."""
    for number, file in enumerate(run.samples):
        began = False
        for thread, row in enumerate(file.rows()):
            events = row["trace"].get("events") if isinstance(row.get("trace"), dict) else None
            known = events if isinstance(events, list) else []
            found = list(_of_sample([one for one in known if isinstance(one, dict)], number, thread))
            if found and not began:
                began = True
                yield _name("process_name", number, 0, f"{file.kind} {file.rollout_id}")
            if found:
                yield _name("thread_name", number, thread, f"sample {row.get('index', thread)}")
                yield from found


def _of_sample(events: Sequence[Event], process: int, thread: int) -> Iterator[dict[str, Any]]:
    ends = {str(one.get("span_id")): one for one in events if one.get("type") == "span_end"}
    for event in events:
        place = {"name": str(event.get("name")), "pid": process, "tid": thread, "ts": _micro(event.get("ts"))}
        if event.get("type") == "event":
            yield place | {"ph": "i", "s": "t", "args": _attrs(event)}
        elif event.get("type") == "span_start" and (end := ends.get(str(event.get("span_id")))):
            length = max(_micro(end.get("ts")) - place["ts"], 0)
            yield place | {"ph": "X", "dur": length, "args": _attrs(event) | _attrs(end)}


def _attrs(event: Event) -> dict[str, Any]:
    attrs = event.get("attrs")
    return attrs if isinstance(attrs, dict) else {}


def _micro(seconds: Any) -> int:
    at = moment(seconds)
    return 0 if at is None else round(at * 1e6)


def _name(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
