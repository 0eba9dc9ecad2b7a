"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): lines in, the data of events out."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

_BYTE_ORDER_MARK = "\ufeff"


class EventParser:
    """Joins the `data` lines of each event; comments (keep-alives) and the other fields are passed over."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._began = False

    def feed(self, line: str) -> str | None:
        """The data of the event that this line, without its end, completes; None where it completes none."""
        if not self._began:
            line, self._began = line.removeprefix(_BYTE_ORDER_MARK), True
        if not line:
            return self._take()
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        return None

    @property
    def unfinished(self) -> bool:
        """Whether an event was begun and not completed: where nothing follows, the stream was cut."""
        return bool(self._data)

    def _take(self) -> str | None:
        if not self._data:
            return None
        data = self._data[0] if len(self._data) == 1 else "\n".join(self._data)
        self._data.clear()
        return data


async def events(lines: AsyncIterable[str]) -> AsyncIterator[str]:
    """The data of each event. One that the end of the stream cuts is left out, as the standard has it."""
    parser = EventParser()
    async for line in lines:
        data = parser.feed(line)
        if data is not None:
            yield data
