"""The quick start's task and what prepares it: nothing that is held out is ever shown before."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/quickstart_cpu"


@pytest.fixture(scope="module")
def rev3():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE))
        import rev3

        yield rev3


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_what_is_held_out_is_in_neither_the_prompts_nor_the_demonstrations(rev3, seed):
    parts = rev3.split(seed)
    assert len(parts.train) == 800 and len(parts.held_out) == 200
    assert not set(parts.train) & set(parts.held_out) and len({*parts.train, *parts.held_out}) == 1000
    assert sum(one == one[::-1] for one in parts.held_out) == 20
    shown = rev3.demonstrations(parts.train, 3000, random.Random(seed))
    assert {asked for asked, _ in shown} <= set(parts.train)
    asked = [(one, given) for one, given in shown if one != one[::-1]]
    assert sum(given == one[::-1] for one, given in asked) / len(asked) == pytest.approx(0.25, abs=0.05)
    assert sum(given == one for one, given in asked) / len(asked) == pytest.approx(0.67, abs=0.05)


def test_the_data_files_say_what_the_grader_wants(rev3):
    (row,) = map(json.loads, rev3.lines(("120",)).splitlines())
    assert row == {"prompt": [{"role": "user", "content": "120?"}], "label": "021"}
    assert (
        len(rev3.vocabulary())
        == rev3.VOCABULARY_SIZE
        == json.loads((EXAMPLE / "model/config.json").read_text())["vocab_size"]
    )


def test_the_tokenizer_makes_the_tokens_that_the_warm_start_learns_from(rev3, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("tokenizers")
    rev3.save_tokenizer(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    messages = json.loads(rev3.lines(("123",)))["prompt"]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert (
        tokenizer(text, add_special_tokens=False)["input_ids"] == rev3.prompt_ids("123")
        and len(rev3.prompt_ids("123")) == 12
    )
    assert tokenizer.decode([*rev3.encode("321"), tokenizer.eos_token_id]) == "321<|im_end|>"
    assert len(tokenizer) == 128 and tokenizer.decode([127]) == "<|reserved_30|>"
