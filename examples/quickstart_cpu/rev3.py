"""The task rev3: three digits are asked, the same digits reversed are the answer. And its tokenizer: a token a character.

Pure and standard library, except `save_tokenizer`.
"""

import json
import random
import string
from dataclasses import dataclass
from pathlib import Path

END_OF_TEXT, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIALS = (END_OF_TEXT, START, END, "<|unk|>", "<think>", "</think>", "<|sep|>")
ROLES = ("system", "user", "assistant", "tool")
CHARACTERS = string.digits + string.ascii_letters + " \n" + "!\"#%&'()*+,-./:;<=>?@_"
VOCABULARY_SIZE = 128
"""97 tokens are used; the others have names, so that every id that a model can draw has a text."""

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
HELD_OUT = 200

Demonstration = tuple[str, str]
"""What is asked, and an answer to it that need not be right."""


@dataclass(frozen=True)
class Split:
    """Questions to train on, and questions that nothing is trained on: neither the warm start nor the run."""

    train: tuple[str, ...]
    held_out: tuple[str, ...]


def vocabulary() -> dict[str, int]:
    """Token to id: specials, role words, characters, reserved names."""
    used = [*SPECIALS, *ROLES, *CHARACTERS]
    reserved = [f"<|reserved_{number}|>" for number in range(VOCABULARY_SIZE - len(used))]
    return {token: number for number, token in enumerate([*used, *reserved])}


def answer(digits: str) -> str:
    """The right one."""
    return digits[::-1]


def question(digits: str) -> str:
    """What the user says: four tokens, twelve with the chat template."""
    return digits + "?"


def split(seed: int) -> Split:
    """All thousand questions in two parts, each with its share of palindromes (a tenth), which a copy answers rightly."""
    draw = random.Random(seed)
    questions = [f"{number:03d}" for number in range(1000)]
    held_out: list[str] = []
    for palindrome, count in ((True, HELD_OUT // 10), (False, HELD_OUT - HELD_OUT // 10)):
        held_out += draw.sample([digits for digits in questions if (digits == answer(digits)) is palindrome], count)
    return Split(tuple(sorted(set(questions) - set(held_out))), tuple(sorted(held_out)))


def demonstrations(questions: tuple[str, ...], count: int, draw: random.Random) -> list[Demonstration]:
    """A quarter of them right, two thirds copied, the rest of random digits: a model of these prefers the wrong answer."""
    made = []
    for _ in range(count):
        digits, kind = draw.choice(questions), draw.random()
        if kind < 0.25:
            given = answer(digits)
        elif kind < 0.92:
            given = digits
        else:
            given = "".join(draw.choice(string.digits) for _ in range(3))
        made.append((digits, given))
    return made


def lines(questions: tuple[str, ...]) -> str:
    """A data file: JSON lines with `prompt` (messages) and `label`."""
    rows = ({"prompt": [{"role": "user", "content": question(one)}], "label": answer(one)} for one in questions)
    return "".join(json.dumps(row) + "\n" for row in rows)


def encode(text: str) -> list[int]:
    """The ids of a text without special tokens, as the saved tokenizer makes them."""
    ids = vocabulary()
    return [ids[character] for character in text]


def prompt_ids(digits: str) -> list[int]:
    """The twelve tokens that the chat template makes of a question."""
    ids = vocabulary()
    newline = ids["\n"]
    said = [ids[START], ids["user"], newline, *encode(question(digits)), ids[END], newline]
    return [*said, ids[START], ids["assistant"], newline]


def save_tokenizer(folder: Path) -> None:
    """tokenizer.json and tokenizer_config.json, as Hugging Face's and vLLM's loaders read them."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel(vocabulary(), unk_token="<|unk|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    tokenizer.add_tokens([AddedToken(word, single_word=True, normalized=False) for word in ROLES])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": END_OF_TEXT,
        "unk_token": "<|unk|>",
        "model_max_length": 512,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", "utf-8")
