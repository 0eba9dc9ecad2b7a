"""The task of the ReTool example on a CPU: what it asks, what it shows first, and that both are what the rollout makes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

EXAMPLE = Path(__file__).parents[2] / "examples/retool/cpu"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(EXAMPLE))
    import products

FORM = products.Format(
    "<|im_start|>system\nUse the tool.<|im_end|>\n<|im_start|>user\n", "<|im_end|>\n", "\n<out>\n", "\n</out>\n"
)
PAIRS = st.tuples(*[st.integers(products.SMALLEST, products.LARGEST)] * 2)


@pytest.fixture(scope="module")
def retool():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE.parent))
        yield pytest.importorskip("generate_with_retool")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("tokenizer")
    products.save_tokenizer(folder, FORM)
    return transformers.PreTrainedTokenizerFast.from_pretrained(folder)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_what_is_held_out_is_in_neither_the_problems_nor_the_conversations(seed):
    parts = products.split(seed, 200)
    held_out = {frozenset(pair) for pair in parts.held_out}
    assert len(held_out) == len(parts.held_out) == 200 and len(set(parts.train)) == len(parts.train)
    assert not held_out & {frozenset(pair) for pair in parts.train}
    assert len(parts.train) + 2 * 200 - sum(one == other for one, other in parts.held_out) == 89 * 89
    asked = {products.question(pair) for pair in parts.held_out}
    assert not asked & {row["prompt"] for row in products.problems(parts.train)}
    for talk in products.conversations(parts.train, 100, 0.35, FORM, seed):
        assert talk[0]["content"].removeprefix(FORM.before_question).removesuffix(FORM.after_question) not in asked


def test_every_conversation_is_right_and_a_third_asks_the_interpreter():
    parts = products.split(0, 200)
    right = {products.question(pair): products.answer(pair) for pair in parts.train}
    talks = list(products.conversations(parts.train, 3000, 0.35, FORM, 0))
    for talk in talks:
        asked = talk[0]["content"].removeprefix(FORM.before_question).removesuffix(FORM.after_question)
        assert talk[-1] == products.say("assistant", products.final(right[asked]))
    by_tool = [talk for talk in talks if len(talk) == 4]
    assert len(by_tool) / len(talks) == pytest.approx(0.35, abs=0.05)
    assert all([one["role"] for one in talk] == ["user", "assistant", "tool", "assistant"] for talk in by_tool)


@settings(max_examples=30, deadline=None)
@given(pair=PAIRS)
def test_a_call_is_json_that_the_rollout_understands(retool, pair):
    asked = products.call(f"{pair[0]}*{pair[1]}")
    inside = json.loads(asked.removeprefix("<tool_call>").removesuffix("</tool_call>"))
    assert inside == {"name": "code_interpreter", "arguments": {"code": f"print({pair[0]}*{pair[1]})"}}
    assert retool.postprocess_predictions(asked) == ("code", f"print({pair[0]}*{pair[1]})")
    assert retool.postprocess_predictions(products.final(products.answer(pair))) == ("answer", str(pair[0] * pair[1]))


@settings(max_examples=30, deadline=None)
@given(text=st.text(st.sampled_from(products.CHARACTERS), max_size=40), pair=PAIRS)
def test_text_survives_the_tokenizer(tokenizer, text, pair):
    for one in (text, FORM.prompt(pair), products.call(text), FORM.result(pair), products.final(text)):
        assert tokenizer.decode(tokenizer(one, add_special_tokens=False)["input_ids"]) == one
    assert len(tokenizer(FORM.prompt(pair))["input_ids"]) == 9
    assert len(tokenizer) == products.VOCABULARY_SIZE == len(products.vocabulary(FORM))
    assert json.loads((EXAMPLE / "model/config.json").read_text())["vocab_size"] == products.VOCABULARY_SIZE


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_first_stage_sees_the_tokens_that_the_second_makes(tokenizer, seed):
    """The prompt, each turn with its end, and the tool's text, encoded one by one as a rollout does."""
    from vime.utils.mask_utils import MultiTurnLossMaskGenerator

    (talk,) = products.conversations(products.split(seed, 200).train, 1, 0.5, FORM, seed)
    ids, mask = MultiTurnLossMaskGenerator(tokenizer, "qwen").get_loss_mask(talk)
    said = [(one["content"] + products.END * (one["role"] == "assistant"), one["role"] == "assistant") for one in talk]
    pieces = [(tokenizer(text, add_special_tokens=False)["input_ids"], int(own)) for text, own in said]
    assert ids == [token for piece, _ in pieces for token in piece]
    assert mask == [own for piece, own in pieces for _ in piece]


@pytest.mark.parametrize("example", [EXAMPLE, EXAMPLE.parents[1] / "quickstart_cpu"], ids=lambda path: path.name)
def test_a_folder_of_something_else_stays(tmp_path, example):
    pytest.importorskip("transformers")
    (tmp_path / "thesis.txt").write_text("years of work")
    words = [sys.executable, str(example / "prepare.py"), "--out", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "holds something else" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
