"""vLLM's stream of deltas as the cumulative chunks that upstream's loops read."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

from .accumulate import Accumulator, Delta, error_of
from .answer import Answer
from .request import Asked, GenerateRequest, generate_request

_DATA = "data:"
_NUMBER = "chunk_number"


class AnswerStream:
    """One streamed request: the body to send, the lines to read, the cumulative view of what has arrived.

    Text is the server's, or decoded here where a tokenizer is given; a character that is split between chunks appears
    whole once it is complete. Work per chunk is that of copying what has arrived; nothing is decoded twice. `add` does
    not copy: its work is that of the chunk.

    `before` are tokens that the text goes on from: a character that they left incomplete is completed here.
    """

    def __init__(
        self, body: Mapping[str, Any] | None = None, tokenizer: Any = None, before: Sequence[int] = ()
    ) -> None:
        self.request: GenerateRequest | None = None if body is None else generate_request(body, tokenizer)
        self._chunks = Accumulator(Asked() if self.request is None else self.request.asked, tokenizer, before)

    def add(self, chunk: Mapping[str, Any]) -> Delta | None:
        """What a decoded chunk brought; None for one of usage alone. Raises StreamError when it reports an error."""
        return self._chunks.delta(chunk)

    def answer(self) -> Answer | None:
        """All that has arrived; None before the first chunk."""
        return self._chunks.last()

    def lines(self, lines: Any) -> Any:
        """The lines of the response, each chunk numbered; the usage chunk is merged into the final one.

        Takes and gives an iterator, or an asynchronous one. What `read` gives for a line does not depend on which
        others are read. Raises StreamError when a chunk reports an error.
        """
        numbering = _Numbering(self._chunks)
        return _later(numbering, lines) if hasattr(lines, "__aiter__") else _now(numbering, lines)

    def upstream_lines(self, lines: Any) -> Any:
        """The lines of the response, each chunk as upstream's engine would have sent it: for whoever decodes them.

        Takes and gives what `lines` does; costs an encoding of what has arrived for every chunk.
        """
        if hasattr(lines, "__aiter__"):
            return _each_later(self._upstream_line, self.lines(lines))
        return map(self._upstream_line, self.lines(lines))

    def _upstream_line(self, line: Any) -> Any:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        chunk = _chunk_of(text)
        if chunk is None or _NUMBER not in chunk:
            return line
        shown = text[: text.index("{")] + json.dumps(self.read(chunk)) + text[text.rindex("}") + 1 :]
        return shown.encode("utf-8") if isinstance(line, bytes) else shown

    def read(self, chunk: Any) -> Any:
        """The answer as it stood at one decoded chunk. Raises StreamError when the chunk reports an error."""
        if not isinstance(chunk, Mapping) or (error_of(chunk) is None and "choices" not in chunk):
            return chunk
        return self._chunks.at(chunk[_NUMBER] if _NUMBER in chunk else self._chunks.add(chunk))


async def _each_later(change: Callable[[Any], Any], lines: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for line in lines:
        yield change(line)


def _now(numbering: "_Numbering", lines: Iterator[Any]) -> Iterator[Any]:
    try:
        for line in lines:
            yield from numbering.take(line)
    except Exception:
        yield from numbering.rest()
        raise
    yield from numbering.rest()


async def _later(numbering: "_Numbering", lines: AsyncIterator[Any]) -> AsyncIterator[Any]:
    try:
        async for line in lines:
            for ready in numbering.take(line):
                yield ready
    except Exception:
        for ready in numbering.rest():
            yield ready
        raise
    for ready in numbering.rest():
        yield ready


class _Numbering:
    """Accumulates each chunk as its line passes; holds the final one back until the usage chunk behind it has come."""

    def __init__(self, chunks: Accumulator) -> None:
        self._chunks = chunks
        self._held: list[Any] = []
        self._drop_blank = False

    def take(self, line: Any) -> list[Any]:
        """The lines that are ready, now that this one has come."""
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        if not text.startswith(_DATA):
            return self._between(line, blank=not text.strip())
        chunk = _chunk_of(text)
        if chunk is None or ("choices" not in chunk and error_of(chunk) is None):
            return [*self.rest(), line]
        number = self._chunks.add(chunk)
        if not chunk["choices"]:
            self._drop_blank = True
            return self.rest()
        numbered = text.replace("{", f'{{"{_NUMBER}": {number}, ', 1)
        ready = [*self.rest(), numbered.encode("utf-8") if isinstance(line, bytes) else numbered]
        if any(choice.get("finish_reason") for choice in chunk["choices"]):
            self._held = [ready.pop()]
        return ready

    def rest(self) -> list[Any]:
        held, self._held = self._held, []
        return held

    def _between(self, line: Any, blank: bool) -> list[Any]:
        """A blank line, a comment or another field of an event: none of them tells that no usage chunk follows."""
        if blank and self._drop_blank:
            self._drop_blank = False
            return []
        if self._held:
            self._held.append(line)
            return []
        return [line]


def _chunk_of(line: str) -> dict[str, Any] | None:
    if not line.startswith(_DATA):
        return None
    try:
        chunk = json.loads(line[len(_DATA) :])
    except json.JSONDecodeError:
        return None
    return chunk if isinstance(chunk, dict) else None
