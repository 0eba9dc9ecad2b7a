"""Which tokens of a conversation are trained on in supervised training: what the assistant says, and the end of its turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

__all__ = ["MaskError", "MultiTurnLossMaskGenerator", "get_response_lengths"]

Message = Mapping[str, Any]
Masked = tuple[list[int], list[int]]
"""(token ids, 1 for each that is trained on), equally long."""

_STAND_IN: Message = {"role": "user", "content": "FOR CALCULATING LOSS MASK ONLY"}
_DISTILLED = "<｜Assistant｜>"


class MaskError(ValueError):
    """A chat template that this way of masking does not fit; says which way may."""


def get_response_lengths(loss_masks: Sequence[Sequence[int]]) -> list[int]:
    """For each mask, the tokens from the first that is trained on to the end; 0 where there is none."""
    return [len(mask) - list(mask).index(1) if 1 in mask else 0 for mask in loss_masks]


class MultiTurnLossMaskGenerator:
    """Masks conversations for a tokenizer's chat template, by `tokenizer_type`.

    qwen, qwen3: each message is rendered by itself, as the model saw it when it was the newest, so that a template which
    takes thinking out of earlier turns does not. qwen3_5: the conversation is rendered once and parts are found in the
    text. distill_qwen: the last message alone is trained on.
    """

    def __init__(self, tokenizer: Any, tokenizer_type: str = "qwen") -> None:
        self.tokenizer = tokenizer
        self.tokenizer_type = tokenizer_type
        if tokenizer_type == "qwen" and _DISTILLED in tokenizer.get_added_vocab():
            self.tokenizer_type = "distill_qwen"

    def get_loss_mask(self, messages: Sequence[Message], tools: Sequence[Any] | None = None) -> Masked:
        """Token ids and mask of a conversation. A message with step_loss_mask 0 is not trained on."""
        way = {
            "qwen": self.gen_multi_turn_loss_mask_qwen,
            "qwen3": self.gen_multi_turn_loss_mask_qwen3,
            "qwen3_5": self.gen_multi_turn_loss_mask_qwen3_5,
            "distill_qwen": self.gen_multi_turn_loss_mask_distill_qwen,
        }.get(self.tokenizer_type)
        if way is None:
            raise MaskError(f"there is no way to mask for --loss-mask-type {self.tokenizer_type}")
        return way(messages, tools)

    def get_response_lengths(self, loss_masks: Sequence[Sequence[int]]) -> list[int]:
        return get_response_lengths(loss_masks)

    def gen_multi_turn_loss_mask_qwen3(self, messages: Sequence[Message], tools: Sequence[Any] | None = None) -> Masked:
        """Message by message; tool answers that follow each other make one turn."""
        header = self._tokens([_STAND_IN], add_generation_prompt=True)[len(self._tokens([_STAND_IN])) :]
        ids: list[int] = []
        mask: list[int] = []
        for turn in _turns(messages):
            piece = self._piece(turn, tools, first=not ids)
            ids += piece
            if turn[0]["role"] != "assistant" or not _trained(turn[0]):
                mask += [0] * len(piece)
                continue
            if piece[: len(header)] != header:
                raise MaskError(f"an assistant's turn does not begin as a generation does: {piece[:8]}; try qwen3_5")
            mask += [0] * len(header) + [1] * (len(piece) - len(header))
        return ids, mask

    gen_multi_turn_loss_mask_qwen = gen_multi_turn_loss_mask_qwen3

    def gen_multi_turn_loss_mask_qwen3_5(
        self, messages: Sequence[Message], tools: Sequence[Any] | None = None
    ) -> Masked:
        """By the characters of the assistant's turns in the rendered text; an opened thinking is not trained on."""
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, tools=tools)
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids, offsets = encoded["input_ids"], encoded.get("offset_mapping")
        if offsets is None:
            raise MaskError("qwen3_5 needs a tokenizer that says where tokens stand (a fast one)")
        if list(ids) != self._tokens(messages, tools):
            raise MaskError("the rendered text is encoded differently by itself and by the template")
        on = [0] * len(text)
        for start, end in _assistant_spans(text, messages):
            on[start:end] = [1] * (end - start)
        before = [0, *accumulate(on)]
        return list(ids), [int(before[end] > before[start]) for start, end in offsets]

    def gen_multi_turn_loss_mask_distill_qwen(
        self, messages: Sequence[Message], tools: Sequence[Any] | None = None
    ) -> Masked:
        """The first message as prompt, the last as answer."""
        prompt = self.tokenizer.apply_chat_template(
            messages[:1], tokenize=False, add_generation_prompt=True, tools=tools
        )
        prompt_ids, answer_ids = (
            self.tokenizer(text, add_special_tokens=False)["input_ids"] for text in (prompt, messages[-1]["content"])
        )
        return [*prompt_ids, *answer_ids], [0] * len(prompt_ids) + [int(_trained(messages[-1]))] * len(answer_ids)

    def get_loss_mask_with_multimodal_alignment(
        self, messages: Sequence[Message], input_ids: Sequence[int], tools: Sequence[Any] | None = None
    ) -> Masked:
        """The mask of the text, behind as many zeros as images have more tokens in `input_ids`."""
        _, mask = self.get_loss_mask([_text_only(message) for message in messages], tools)
        if len(input_ids) < len(mask):
            raise MaskError(f"{len(input_ids)} ids of the processor for {len(mask)} of the text: they do not fit")
        return list(input_ids), [0] * (len(input_ids) - len(mask)) + mask

    def get_text_from_loss_mask(self, token_ids: Sequence[int], loss_masks: Sequence[int]) -> list[str]:
        """The runs of text that are trained on."""
        runs: list[list[int]] = []
        for position, (token, on) in enumerate(zip(token_ids, loss_masks, strict=True)):
            if on and (position == 0 or not loss_masks[position - 1]):
                runs.append([])
            if on:
                runs[-1].append(token)
        return [self.tokenizer.decode(run) for run in runs]

    def _piece(self, turn: Sequence[Message], tools: Sequence[Any] | None, first: bool) -> list[int]:
        """What a turn adds to a conversation; the first brings what the template puts in front of it all."""
        lead = self._tokens([_STAND_IN])
        if not first:
            return _rest(self._tokens([_STAND_IN, *turn]), lead)
        behind = _rest(self._tokens([_STAND_IN, _STAND_IN]), lead)
        whole = self._tokens([*turn, _STAND_IN], tools)
        if whole[-len(behind) :] != behind:
            raise MaskError("the chat template changes a message by what stands before it; try qwen3_5")
        return whole[: -len(behind)]

    def _tokens(self, messages: Sequence[Message], tools: Sequence[Any] | None = None, **kwargs: Any) -> list[int]:
        ids = self.tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, tools=tools, **kwargs)
        return list(ids)


def _rest(ids: list[int], lead: list[int]) -> list[int]:
    if ids[: len(lead)] != lead:
        raise MaskError("the chat template changes a message by what follows it; try qwen3_5")
    return ids[len(lead) :]


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Messages one by one, tool answers that follow each other together."""
    turn: list[Message] = []
    for message in messages:
        if turn and not (message["role"] == turn[-1]["role"] == "tool"):
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def _trained(message: Message) -> bool:
    return message.get("step_loss_mask", 1) == 1


def _assistant_spans(text: str, messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    header, end_mark, thinking, at = "<|im_start|>assistant\n", "<|im_end|>", "<think>\n", 0
    for message in messages:
        if message["role"] != "assistant":
            continue
        start = text.find(header, at)
        end = text.find(end_mark, start)
        if start < 0 or end < 0:
            raise MaskError("an assistant's turn is not in the rendered text as <|im_start|>assistant ... <|im_end|>")
        start, at = start + len(header), end + len(end_mark)
        at += text.startswith("\n", at)
        if _trained(message):
            yield start + (len(thinking) if text.startswith(thinking, start) else 0), at


def _text_only(message: Message) -> Message:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    texts = [part if isinstance(part, str) else part.get("text", "") for part in content if _is_text(part)]
    return {"role": message["role"], "content": " ".join(texts)}


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or part.get("type") == "text"
