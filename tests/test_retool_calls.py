"""What a turn of ReTool's asks for: calls that cannot be made are told to the model, and whatever it says is read in time."""

import asyncio
import sys
import time

import pytest

if __name__ == "__main__":  # pytest knows where the modules below are
    raise SystemExit(pytest.main([__file__, *sys.argv[1:]]))

from generate_with_retool import execute_predictions, postprocess_predictions, postprocess_responses
from hypothesis import given, settings
from hypothesis import strategies as st
from retool_world import ANSWER, CALL, converse, use
from tool_calls import read_action

from vime.utils.types import Sample

Status = Sample.Status


@pytest.fixture(autouse=True)
def sandbox(monkeypatch):
    return use(monkeypatch)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("{broken}", "no JSON"),
        ('{"name": "code_interpreter", "arguments": {"code": "x"}', "no JSON"),
        ("[" * 100_000, "nested too deep"),
        ('{"name": ' + "9" * 5000 + "}", "no JSON"),
        ("", "no JSON"),
        ("[1]", "no JSON object"),
        ('{"arguments": {}}', "no name"),
        ('{"name": 3}', "no name"),
        ('{"name": "code_interpreter", "arguments": "print(1)"}', "arguments of the tool call"),
        ('{"name": "code_interpreter", "arguments": {}} then', "does not end"),
        ('{"name": "sh\\ud800", "arguments": {}}', "there is no tool 'sh\\ud800'"),
        ('{"name": "code_interpreter", "arguments": {"code": 5}}', "must be a string"),
        ('{"name": "code_interpreter", "arguments": {"code": null}}', "must be a string"),
        ('{"name": "code_interpreter"}', "must be a string"),
        ('{"name": "code_interpreter", "arguments": {"code": " "}}', "no code"),
    ],
)
def test_what_cannot_be_called_is_told_to_the_model(call, said, sandbox):
    sample, _ = converse([f"<tool_call>{call}</tool_call>", ANSWER], rollout_max_context_len=200_000)
    told = sample.response.removeprefix(f"<tool_call>{call}</tool_call>")
    assert told.startswith("[Error: ") and said in told and told.endswith(f"]{ANSWER}")
    assert (sample.status, sandbox.codes) == (Status.COMPLETED, [])


def test_the_observation_of_a_turn_alone():
    async def observed(*turns):
        return [await execute_predictions(one) for one in turns]

    called, answered, neither = asyncio.run(observed(CALL, ANSWER, "hm"))
    assert called == ("\n\n<interpreter>\nOutput:\n1\n</interpreter>\n\n", False)
    assert answered == ("", True)
    assert not neither[1] and "<code>" in neither[0] and "\\boxed" in neither[0]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"a {CALL} b {CALL} c", f"a {CALL} b {CALL}"),
        ("<code>x</code> y <code>", "<code>x</code>"),
        ("```python\nx\n``` y", "```python\nx\n```"),
        (f"so {ANSWER} and on", f"so {ANSWER}"),
        ("plain <tool_call>", "plain <tool_call>"),
    ],
)
def test_what_follows_an_action_is_cut_off(text, kept):
    assert postprocess_responses(text) == kept


def test_reading_a_turn_takes_time_that_grows_with_its_length_alone():
    for text in ("<tool_call>" * 50_000, "<tool_call>" + " " * 500_000, "Answer: \\boxed{" * 20_000):
        read_action(text), postprocess_responses(text)


PIECES = [
    "<tool_call>",
    "</tool_call>",
    '{"name": "code_interpreter", "arguments": {"code": "',
    '"}}',
    "<code>",
    "</code>",
]


PIECES += ["```python\n", "```", "Answer: \\boxed{", "}", "\n", "é", "[", "9"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join))
def test_whatever_a_turn_is_it_can_be_read(text):
    action = read_action(text)
    assert action.kind in ("answer", "call", "broken", "none") and isinstance(action.arguments, dict)
    assert text.startswith(postprocess_responses(text))
    assert postprocess_predictions(text)[0] in ("answer", "code", None)


@pytest.mark.parametrize("turn_", ["```python" + "\n" * 2000 + "x", "<code>" * 20_000])
def test_what_is_opened_and_never_closed_is_read_at_once(turn_):
    began = time.process_time()
    assert read_action(turn_).kind == "none" and postprocess_responses(turn_) == turn_
    assert time.process_time() - began < 1
