"""The task: a product of two numbers of two digits each. A tiny model cannot work it out; it can have it worked out.

And the tokenizer: a token a character, and one for each fixed piece of text. Pure and standard library, except `save_tokenizer`.
"""

import json
import random
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

END_OF_TEXT, START, END, UNKNOWN = "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|unk|>"
SPECIALS = (END_OF_TEXT, START, END, UNKNOWN)
CALL = ("<tool_call>\n", '{"name": "code_interpreter", "arguments": {"code": "', "print(", ")", '"}}', "\n</tool_call>")
"""The fixed pieces of a tool call; what is to be worked out stands between the third and the fourth."""
QUESTION, ANSWER = "What is ", "Answer: \\boxed{"
CHARACTERS = "".join(one for one in string.printable if one.isprintable()) + "\n"
VOCABULARY_SIZE = 128
"""The ids that are not used have names, so that every id that a model can draw has a text."""
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% if message['role'] == 'assistant' %}<|im_end|>{% endif %}{% endfor %}"
"""A conversation is its texts one after the other, as the rollout puts them; only the end of a turn is added."""
SMALLEST, LARGEST = 11, 99

Pair = tuple[int, int]


@dataclass(frozen=True)
class Format:
    """The text around questions and results, as the rollout makes it."""

    before_question: str
    after_question: str
    before_result: str
    after_result: str

    def prompt(self, pair: Pair) -> str:
        """The whole prompt, up to where the model goes on."""
        return f"{self.before_question}{question(pair)}{self.after_question}"

    def result(self, pair: Pair) -> str:
        """What the tool says to a right call."""
        return f"{self.before_result}{answer(pair)}{self.after_result}"

    @property
    def pieces(self) -> tuple[str, ...]:
        """Its texts, as tokens."""
        return (self.before_question, self.after_question, self.before_result, self.after_result)


@dataclass(frozen=True)
class Split:
    """Pairs to train on, and pairs that nothing is trained on: neither the one stage nor the other."""

    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...]


def split(seed: int, held_out: int) -> Split:
    """All pairs, in either order, in two parts. Both orders of a pair are in the same."""
    numbers = range(SMALLEST, LARGEST + 1)
    pairs = [(one, other) for one in numbers for other in numbers if one <= other]
    draw = random.Random(seed)
    draw.shuffle(pairs)
    both = tuple(pair if draw.random() < 0.5 else pair[::-1] for pair in pairs[:held_out])
    rest = pairs[held_out:] + [pair[::-1] for pair in pairs[held_out:] if pair[0] != pair[1]]
    draw.shuffle(rest)
    return Split(tuple(rest), both)


def question(pair: Pair) -> str:
    """What the user asks."""
    return f"{QUESTION}{pair[0]}*{pair[1]}?"


def answer(pair: Pair) -> str:
    """The right one."""
    return str(pair[0] * pair[1])


def call(code: str) -> str:
    """A turn that has the value of `code` printed."""
    return "".join((*CALL[:3], code, *CALL[3:]))


def final(value: str) -> str:
    """A turn that answers."""
    return f"{ANSWER}{value}}}"


def conversations(pairs: Sequence[Pair], count: int, by_tool: float, form: Format, seed: int) -> Iterator[list[dict]]:
    """Demonstrations, all right: a share `by_tool` asks the interpreter, the others say the product at once."""
    draw = random.Random(seed)
    for _ in range(count):
        pair = draw.choice(pairs)
        worked_out = [say("assistant", call(f"{pair[0]}*{pair[1]}")), say("tool", form.result(pair))]
        asked = worked_out if draw.random() < by_tool else []
        yield [say("user", form.prompt(pair)), *asked, say("assistant", final(answer(pair)))]


def say(role: str, content: str) -> dict[str, str]:
    """A message."""
    return {"role": role, "content": content}


def problems(pairs: Iterable[Pair]) -> Iterator[dict[str, str]]:
    """Rows of `prompt` and `label`; the rollout puts the prompt into its form itself."""
    return ({"prompt": question(pair), "label": answer(pair)} for pair in pairs)


def lines(rows: Iterable[object]) -> str:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def vocabulary(form: Format) -> dict[str, int]:
    """Token to id: specials, pieces, characters, reserved names."""
    used = list(dict.fromkeys([*SPECIALS, *form.pieces, *CALL, QUESTION, ANSWER, *CHARACTERS]))
    reserved = [f"<|reserved_{number}|>" for number in range(VOCABULARY_SIZE - len(used))]
    return {token: number for number, token in enumerate([*used, *reserved])}


def save_tokenizer(folder: Path, form: Format) -> None:
    """tokenizer.json and tokenizer_config.json, as Hugging Face's and vLLM's loaders read them."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    words = vocabulary(form)
    tokenizer = Tokenizer(models.WordLevel(words, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    pieces = [word for word in words if len(word) > 1 and word not in SPECIALS and not word.startswith("<|reserved")]
    tokenizer.add_tokens([AddedToken(piece, normalized=False) for piece in pieces])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": END_OF_TEXT,
        "unk_token": UNKNOWN,
        "model_max_length": 512,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", "utf-8")
