"""What has arrived of a streamed answer, and how far it had come at each chunk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .answer import Answer, meta_info, token_pairs, without_tokens
from .detokenize import Detokenizer
from .errors import StreamError
from .request import Asked


@dataclass(frozen=True)
class Delta:
    """What one chunk brought. `text` is all of the request's text so far: a character may have become whole in it."""

    token_ids: list[int]
    log_probs: list[float] | None
    sampling_mask: list[list[int]] | None
    text: str | None
    finish_reason: str | None
    weight_versions: list[dict[str, Any]] | None
    """Spans of this request's tokens, with the last chunk: version, start, end."""


@dataclass(frozen=True)
class _Mark:
    """How far a choice had come at one chunk; `tail` is text that a later chunk may still change."""

    choice: int
    ids: int
    pairs: int | None
    mask: int | None
    text: int | None
    tail: str
    raw: Mapping[str, Any]


class Accumulator:
    """Adds deltas up. `at(number)` is the answer as it stood when chunk `number` had been added."""

    def __init__(self, asked: Asked, tokenizer: Any = None, before: Sequence[int] = ()) -> None:
        self._asked, self._tokenizer, self._before = asked, tokenizer, before
        self._choices: dict[int, _Choice] = {}
        self._marks: list[_Mark] = []
        # What the usage chunk alone may carry: usage and metrics are the whole request's.
        self._of_request: dict[str, Any] = {}

    def add(self, chunk: Mapping[str, Any]) -> int:
        """The chunk's number. A chunk of usage alone belongs to the one before. Raises StreamError for an error."""
        error = error_of(chunk)
        if error is not None:
            raise StreamError(error)
        self._of_request.update({key: chunk[key] for key in ("usage", "metrics") if chunk.get(key)})
        for choice in chunk["choices"]:
            index = choice.get("index", 0)
            if index not in self._choices:
                self._choices[index] = _Choice(self._asked, self._tokenizer, self._before)
            self._marks.append(self._choices[index].add(index, chunk, choice))
        return max(0, len(self._marks) - 1)

    def delta(self, chunk: Mapping[str, Any]) -> Delta | None:
        """Add a chunk; what it brought, None for one of usage alone. For requests of one completion."""
        before = self._marks[-1] if self._marks else None
        self.add(chunk)
        if not self._marks or self._marks[-1] is before:
            return None
        if len(self._choices) > 1:
            raise StreamError("the chunks are of several completions, where one was asked for")
        return self._choices[self._marks[-1].choice].between(before, self._marks[-1])

    def last(self) -> Answer | None:
        """The answer as it stands."""
        return self.at(len(self._marks) - 1) if self._marks else None

    def at(self, number: int) -> Answer | None:
        if number >= len(self._marks):
            return None
        mark = self._marks[number]
        return self._choices[mark.choice].answer(mark, self._of_request)


class _Choice:
    def __init__(self, asked: Asked, tokenizer: Any, before: Sequence[int]) -> None:
        self._asked, self._tokenizer = asked, tokenizer
        self._detokenizer = None
        if tokenizer is not None:
            self._detokenizer = Detokenizer(tokenizer, asked.skip_special_tokens)
            self._detokenizer.go_on_from(before)
        self._ids: list[int] = []
        self._pairs: list[list[Any]] | None = None
        self._mask: list[list[int]] | None = None
        self._text: str | None = None

    def add(self, index: int, chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> _Mark:
        if self._asked.scoring:
            choice = without_tokens(choice)
        new_ids = choice.get("token_ids") or []
        self._ids += new_ids
        new_pairs = token_pairs(new_ids, choice.get("logprobs"))
        if new_pairs is not None:
            self._pairs = self._pairs or []
            self._pairs += new_pairs
        if choice.get("sampling_mask") is not None:
            self._mask = self._mask or []
            self._mask += choice["sampling_mask"]
        tail = self._add_text(choice, new_ids)
        kept = {key: choice.get(key) for key in ("finish_reason", "stop_reason", "weight_versions", "routed_experts")}
        raw = {"request_id": chunk.get("request_id", ""), "choice": kept}
        counts = (None if held is None else len(held) for held in (self._pairs, self._mask, self._text))
        return _Mark(index, len(self._ids), *counts, tail, raw)

    def answer(self, mark: _Mark, of_request: Mapping[str, Any]) -> Answer:
        ids = self._ids[: mark.ids]
        choice = {**mark.raw["choice"], "sampling_mask": None if mark.mask is None else self._mask[: mark.mask]}
        meta = meta_info({**mark.raw, **of_request}, choice, self._asked, ids)
        if mark.pairs is not None:
            meta["output_token_logprobs"] = self._pairs[: mark.pairs]
        answer = Answer(output_ids=ids, meta_info=meta, index=mark.choice)
        return answer if mark.text is None else Answer(text=self._text[: mark.text] + mark.tail, **answer)

    def between(self, before: _Mark | None, mark: _Mark) -> Delta:
        start = before or _Mark(mark.choice, 0, 0, 0, 0, "", {})
        log_probs = mask = None
        if mark.pairs is not None:
            log_probs = [pair[0] for pair in self._pairs[start.pairs or 0 : mark.pairs]]
        if mark.mask is not None:
            mask = self._mask[start.mask or 0 : mark.mask]
        text = None if mark.text is None else self._text[: mark.text] + mark.tail
        raw = mark.raw["choice"]
        ids = self._ids[start.ids : mark.ids]
        return Delta(ids, log_probs, mask, text, raw["finish_reason"], raw["weight_versions"])

    def _add_text(self, choice: Mapping[str, Any], new_ids: list[int]) -> str:
        """Grows the text that will not change any more; what follows it for now."""
        if choice.get("text") is not None:
            self._text = (self._text or "") + choice["text"]
            return ""
        if self._detokenizer is None:
            return ""
        hidden = bool(new_ids) and choice.get("finish_reason") == "stop" and self._hides(new_ids[-1], choice)
        done, tail = self._detokenizer.add(new_ids[:-1] if hidden else new_ids)
        self._text = (self._text or "") + done
        stop = choice.get("stop_reason")
        if isinstance(stop, str) and not self._asked.no_stop_trim and stop in self._text:
            self._text, tail = self._text[: self._text.rfind(stop)], ""
        return tail

    def _hides(self, token: int, choice: Mapping[str, Any]) -> bool:
        """The engine cuts the token that ended the generation, unless told not to; a model may have several for its end."""
        if self._asked.no_stop_trim:
            return False
        stop, eos = choice.get("stop_reason"), getattr(self._tokenizer, "eos_token_id", None)
        if stop is not None:
            return token == stop
        return token == eos or token in getattr(self._tokenizer, "all_special_ids", ())


def error_of(chunk: Mapping[str, Any]) -> str | None:
    """The message of a chunk that reports an error."""
    if "choices" in chunk or "error" not in chunk:
        return None
    error = chunk["error"]
    return str(error.get("message", error)) if isinstance(error, Mapping) else str(error)
