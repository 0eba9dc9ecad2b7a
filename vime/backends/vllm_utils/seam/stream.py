"""vLLM's stream of deltas as the cumulative chunks that upstream's loops read."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from .answer import Answer, meta_info, sampling_mask, token_pairs
from .detokenize import Detokenizer
from .errors import StreamError
from .request import Asked, GenerateRequest, generate_request

_DATA = "data:"


class AnswerStream:
    """One streamed request: the body to send, the lines to read, the cumulative view of what has arrived.

    Text is the server's, or decoded here where a tokenizer is given; either way a character that is split between
    chunks appears whole.
    """

    def __init__(self, body: Mapping[str, Any] | None = None, tokenizer: Any = None) -> None:
        self.request: GenerateRequest | None = None if body is None else generate_request(body, tokenizer)
        self._tokenizer = tokenizer
        self._asked = Asked() if self.request is None else self.request.asked
        self._choices: dict[int, _Choice] = {}
        self._usage: Mapping[str, Any] = {}
        self._last: Answer | None = None

    def read(self, chunk: Any) -> Any:
        """The answer so far, after one decoded chunk. Raises StreamError when the chunk reports an error."""
        if not isinstance(chunk, Mapping):
            return chunk
        _raise_error(chunk)
        if "choices" not in chunk:
            return chunk
        self._usage = chunk.get("usage") or self._usage
        raw = {**chunk, "usage": self._usage}
        for choice in chunk["choices"]:
            index = choice.get("index", 0)
            if index not in self._choices:
                self._choices[index] = _Choice(self._asked, self._tokenizer)
            self._last = self._choices[index].add(raw, choice)
        if not chunk["choices"] and self._last is not None:
            self._last["meta_info"].update(_usage_of(self._usage))
        return self._last

    def lines(self, lines: Any) -> Any:
        """The lines of the response without the separate usage chunk, which is merged into the final one.

        Takes and gives an iterator, or an asynchronous one.
        """
        return self._merge_later(lines) if hasattr(lines, "__aiter__") else self._merge(lines)

    def _merge(self, lines: Iterator[Any]) -> Iterator[Any]:
        merging = _Merging()
        try:
            for line in lines:
                yield from merging.take(line)
                self._usage = merging.usage
        except Exception:
            yield from merging.rest()
            raise
        yield from merging.rest()

    async def _merge_later(self, lines: AsyncIterator[Any]) -> AsyncIterator[Any]:
        merging = _Merging()
        try:
            async for line in lines:
                out = merging.take(line)
                self._usage = merging.usage
                for held in out:
                    yield held
        except Exception:
            for held in merging.rest():
                yield held
            raise
        for held in merging.rest():
            yield held


class _Merging:
    """Holds the final chunk back until the usage chunk behind it has come."""

    def __init__(self) -> None:
        self.usage: Mapping[str, Any] = {}
        self._held: list[Any] = []
        self._skip_blank = False

    def take(self, line: Any) -> list[Any]:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        if not text.strip():
            if self._skip_blank:
                self._skip_blank = False
                return []
            return self._hold(line)
        chunk = _chunk_of(text)
        if chunk is None:
            return [*self.rest(), line]
        _raise_error(chunk)
        if chunk.get("choices") == []:
            self.usage = chunk.get("usage") or {}
            self._skip_blank = True
            return self.rest()
        if any(choice.get("finish_reason") for choice in chunk.get("choices", ())):
            return [*self.rest(), *self._hold(line, first=True)]
        return [*self.rest(), line]

    def rest(self) -> list[Any]:
        held, self._held = self._held, []
        return held

    def _hold(self, line: Any, first: bool = False) -> list[Any]:
        if not self._held and not first:
            return [line]
        self._held.append(line)
        return []


class _Choice:
    """What has been generated of one choice."""

    def __init__(self, asked: Asked, tokenizer: Any) -> None:
        self._asked = asked
        self._tokenizer = tokenizer
        self._detokenizer = Detokenizer(tokenizer, asked.skip_special_tokens) if tokenizer is not None else None
        self._ids: list[int] = []
        self._pairs: list[list[Any]] | None = None
        self._mask: list[list[int]] | None = None
        self._text: str | None = None

    def add(self, raw: Mapping[str, Any], choice: Mapping[str, Any]) -> Answer:
        new_ids = choice.get("token_ids") or []
        self._ids += new_ids
        new_pairs = token_pairs(new_ids, choice.get("logprobs"))
        if new_pairs is not None:
            self._pairs = (self._pairs or []) + new_pairs
        if choice.get("sampling_mask") is not None:
            self._mask = (self._mask or []) + choice["sampling_mask"]
        meta = meta_info(raw, {**choice, "sampling_mask": None}, self._asked, len(self._ids))
        meta.update(sampling_mask(self._mask))
        if self._pairs is not None:
            meta["output_token_logprobs"] = list(self._pairs)
        answer = Answer(output_ids=list(self._ids), meta_info=meta, index=choice.get("index", 0))
        text = self._text_after(choice, new_ids)
        return answer if text is None else Answer(text=text, **answer)

    def _text_after(self, choice: Mapping[str, Any], new_ids: list[int]) -> str | None:
        if "text" in choice:
            self._text = (self._text or "") + choice["text"]
        elif self._detokenizer is not None:
            shown = new_ids
            if new_ids and choice.get("finish_reason") == "stop" and self._hides_last(new_ids[-1], choice):
                shown = new_ids[:-1]
            self._text = self._without_stop(self._detokenizer.text(shown), choice.get("stop_reason"))
        return self._text

    def _hides_last(self, token: int, choice: Mapping[str, Any]) -> bool:
        """The upstream engine cuts the token that ended the generation, unless told not to."""
        ended_by = choice.get("stop_reason")
        return not self._asked.no_stop_trim and token in (ended_by, getattr(self._tokenizer, "eos_token_id", None))

    def _without_stop(self, text: str, stop: Any) -> str:
        cut = text.rfind(stop) if isinstance(stop, str) and not self._asked.no_stop_trim else -1
        return text if cut < 0 else text[:cut]


def _chunk_of(line: str) -> dict[str, Any] | None:
    if not line.startswith(_DATA):
        return None
    try:
        chunk = json.loads(line[len(_DATA) :])
    except json.JSONDecodeError:
        return None
    return chunk if isinstance(chunk, dict) else None


def _raise_error(chunk: Mapping[str, Any]) -> None:
    if "error" in chunk and "choices" not in chunk:
        error = chunk["error"]
        raise StreamError(error.get("message", str(error)) if isinstance(error, Mapping) else str(error))


def _usage_of(usage: Mapping[str, Any]) -> dict[str, Any]:
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return {"prompt_tokens": usage.get("prompt_tokens"), "cached_tokens": cached}
