"""The ReTool example: conversations with a tool against an engine over HTTP; its prompt, its tools, its reward."""

import asyncio
import json
import logging
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":  # pytest knows where the modules below are
    raise SystemExit(pytest.main([__file__, *sys.argv[1:]]))

sys.path.insert(0, str(Path(__file__).parent / "vime/config"))

from config_world import enough, refused
from engines import turn
from generate_with_retool import format_conversation_with_tools, postprocess_predictions, reward_func
from hypothesis import given, settings
from hypothesis import strategies as st
from retool_world import ANSWER, CALL, arguments, converse, executed, use, use_real
from tool_prompts import prompt_text
from tool_sandbox import tool_registry
from tool_settings import Settings

from vime.errors import RunError
from vime.rollout.engine_call import GenerationFailed
from vime.sandbox import Result
from vime.utils.types import Sample

Status = Sample.Status


@pytest.fixture(autouse=True)
def sandbox(monkeypatch):
    return use(monkeypatch)


# ---- what is asked of the engine


def test_the_request_is_of_vllms_shape():
    _, server = converse([ANSWER], params={"temperature": 0.5, "no_stop_trim": True})
    (request,) = server.requests
    assert request["token_ids"] == list(b"ab")
    assert request["sampling_params"] == {
        "max_tokens": 100, "temperature": 0.5, "include_stop_str_in_output": True, "logprobs": 1,
    }  # fmt: skip
    assert request.keys() <= {"token_ids", "sampling_params", "output_mode"}


def test_each_turn_is_asked_with_all_that_there_is(sandbox):
    sample, server = converse([CALL, ANSWER])
    assert server.requests[1]["token_ids"] == list(f"ab{CALL}[1]".encode())
    assert sample.response == f"{CALL}[1]{ANSWER}"
    assert sandbox.codes == ["print(1)"]


def test_each_turns_budget_fits_the_context():
    _, server = converse([CALL, ANSWER], params={"max_new_tokens": 300}, rollout_max_context_len=200)
    used = len(f"ab{CALL}[1]")
    assert [one["sampling_params"]["max_tokens"] for one in server.requests] == [198, 200 - used]


def test_the_context_is_the_trainers_where_none_is_set():
    more = {"rollout_max_context_len": None, "context_parallel_size": 2, "max_tokens_per_gpu": 40}
    _, server = converse([ANSWER], **more)
    assert server.requests[0]["sampling_params"]["max_tokens"] == 78
    with pytest.raises(RunError, match="rollout-max-context-len"):
        converse([ANSWER], rollout_max_context_len=None, max_tokens_per_gpu=None)


@pytest.mark.parametrize("length", [1, 2])
def test_a_prompt_that_fills_the_context_is_not_asked(length):
    sample, server = converse([ANSWER], rollout_max_context_len=length)
    assert (sample.status, sample.response_length, server.requests) == (Status.TRUNCATED, 0, [])


def test_turns_do_not_draw_the_same_random_numbers():
    seeds = [
        [
            request["sampling_params"].get("seed")
            for request in converse([CALL, CALL, ANSWER], params=params)[1].requests
        ]
        for params in ({"sampling_seed": 5}, {"sampling_seed": 5}, {"sampling_seed": 6}, {})
    ]
    assert seeds[0] == seeds[1] and len({*seeds[0], *seeds[2]}) == 6 and seeds[0][0] == 5 and seeds[3] == [None] * 3


def test_the_parameters_are_not_changed():
    params = {"max_new_tokens": 9}
    converse([ANSWER[:9]] * 2, params=params, retool_max_turns=1)
    assert params == {"max_new_tokens": 9}


# ---- how a conversation ends


@pytest.mark.parametrize(
    ("finish", "status", "reason", "length"),
    [
        ("stop", Status.COMPLETED, None, len(ANSWER)),
        ("length", Status.TRUNCATED, None, len(ANSWER)),
        ("repetition", Status.TRUNCATED, None, len(ANSWER)),
        ("abort", Status.ABORTED, "engine_abort", 0),
        ("a word that is new", Status.ABORTED, "engine_error", 0),
    ],
)
def test_every_finish_reason(finish, status, reason, length):
    sample, _ = converse([turn(ANSWER, finish)])
    assert (sample.status, sample.metadata.get("abort_reason"), sample.response_length) == (status, reason, length)


def test_an_error_of_the_engines_is_asked_again_and_ends_the_rollout_where_it_stays():
    with pytest.raises(GenerationFailed, match="ended the request with an error"):
        converse([turn(ANSWER, "error")])


@pytest.mark.parametrize("last", ["stop", "length", "abort"])
def test_the_finish_reason_is_each_calls_own(last):
    sample, _ = converse([CALL, turn(ANSWER, last)])
    assert sample.status is {"stop": Status.COMPLETED, "length": Status.TRUNCATED, "abort": Status.ABORTED}[last]


def test_a_tool_is_not_called_by_half_a_turn(sandbox):
    sample, _ = converse([turn(CALL, "length")])
    assert (sample.status, sandbox.codes, sample.tool_call_count) == (Status.TRUNCATED, [], 0)


def test_turns_and_calls_are_bounded():
    sample, server = converse([CALL], retool_max_turns=3)
    assert (len(server.requests), sample.tool_call_count, sample.status) == (3, 3, Status.COMPLETED)
    sample, server = converse([CALL], retool_max_tool_calls=2)
    assert (len(server.requests), sample.tool_call_count, sample.status) == (2, 2, Status.COMPLETED)


def test_a_turn_without_action_is_told_and_counts_as_no_call():
    sample, _ = converse(["hm", ANSWER], retool_invalid_action="what?")
    assert (sample.response, sample.tool_call_count) == (f"hmwhat?{ANSWER}", 0)


def test_a_rollout_that_stops_asks_no_further_turn(sandbox):
    held = []
    sandbox.outputs = [Result("1\n", "", 0, "exit", 0.0)]
    sandbox_run = sandbox.run_async

    async def run(code):
        held[0].aborted = True
        return await sandbox_run(code)

    sandbox.run_async = run
    sample, server = converse([CALL, ANSWER], before=held.append)
    assert (sample.status, sample.metadata["abort_reason"]) == (Status.ABORTED, "rollout_stopped")
    assert len(server.requests) == 1


def test_an_evaluation_goes_on_beside_a_rollout_that_stops():
    def stop(state):
        state.aborted = True

    sample, _ = converse([CALL, ANSWER], before=stop, evaluation=True)
    assert sample.status is Status.COMPLETED


def test_what_breaks_off_in_the_middle_is_not_complete(sandbox):
    sample = Sample(prompt="ab", index=7)
    sandbox.outputs = []  # so that the sandbox itself fails
    with pytest.raises(IndexError):
        converse([CALL], sample=sample)
    assert sample.status is Status.PENDING


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--partial-rollout"], "--partial-rollout: ReTool's generate begins every conversation anew"),
        (["--multimodal-keys", '{"image": "images"}'], "--multimodal-keys: requests to the engines carry no images"),
        (["--group-rm"], "--group-rm: ReTool's reward_func rewards one sample at a time; leave it out"),
        (["--custom-config-path", "typo.yaml"], "ReTool has no setting retool_max_turnz; it may be retool_max_turns"),
        ([], "nothing bounds the length of a conversation; set --rollout-max-context-len"),
    ],
)
def test_what_it_cannot_do_is_refused_when_arguments_are_checked(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    Path("typo.yaml").write_text("retool_max_turnz: 3\n")
    named = ["--custom-generate-function-path", "generate_with_retool.generate"]
    named += ["--custom-rm-path", "generate_with_retool.reward_func", "--reward-key", "score"]
    bound = ["--rollout-max-context-len", "100"] if words else []
    found = refused([*enough(tmp_path), *named, *bound, *words])
    assert len(found) == 1 and said in found[0], found
    assert refused([*enough(tmp_path), *named, "--rollout-max-context-len", "100"]) == []


# ---- what is trained on


def test_mask_and_logprobs_follow_the_tokens():
    sample, _ = converse([CALL, ANSWER])
    generated = [turn(CALL)["logprobs"], turn(ANSWER)["logprobs"]]
    assert sample.loss_mask == [1] * len(CALL) + [0] * 3 + [1] * len(ANSWER)
    assert sample.rollout_log_probs == pytest.approx([*generated[0], 0.0, 0.0, 0.0, *generated[1]])
    assert sample.tokens == list(f"ab{sample.response}".encode())
    assert sample.weight_versions == ["0", "0"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"no_logprobs": True}, "no_logprobs"),
        ({"logprobs": [-0.5]}, "logprobs_mismatch"),
        ({"logprobs": [None] * len(ANSWER)}, "logprobs_not_finite"),
        ({"logprobs": [float("-inf")] * len(ANSWER)}, "logprobs_not_finite"),
    ],
)
def test_logprobs_that_are_of_no_use_abort_the_sample(fault, reason, caplog):
    with caplog.at_level(logging.WARNING):
        sample, _ = converse([CALL, turn(ANSWER) | fault])
    assert (sample.status, sample.metadata["abort_reason"]) == (Status.ABORTED, reason)
    # What came before stays as it was; nothing is made up for what did not come.
    assert sample.response == f"{CALL}[1]" and sample.rollout_log_probs[: len(CALL)] == turn(CALL)["logprobs"]
    assert reason in caplog.text


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_output_that_overflows_is_trimmed(room, sandbox):
    sandbox.outputs = ["éé"]  # [éé] is of six bytes; the second is half a character
    sample, server = converse([CALL, ANSWER], rollout_max_context_len=2 + len(CALL) + room)
    assert (sample.status, sample.response_length, len(server.requests)) == (Status.TRUNCATED, len(CALL) + room, 1)
    assert sample.loss_mask == [1] * len(CALL) + [0] * room
    assert sample.rollout_log_probs[len(CALL) :] == [0.0] * room
    assert sample.response == CALL + ["", "[", "[\ufffd", "[é"][room]


def test_output_that_just_fits_is_whole_and_ends_it_at_the_next_turn():
    sample, server = converse([CALL, ANSWER], rollout_max_context_len=2 + len(CALL) + 3)
    assert (sample.response, sample.status, len(server.requests)) == (f"{CALL}[1]", Status.TRUNCATED, 1)


def test_truncation_is_not_overwritten_by_bounds(sandbox):
    sandbox.outputs = ["long" * 20]
    sample, _ = converse([CALL], rollout_max_context_len=len(CALL) + 9, retool_max_turns=1, retool_max_tool_calls=1)
    assert sample.status is Status.TRUNCATED


def test_characters_that_turns_share_come_out_whole():
    half = {**turn("é"), "tokens": [0xC3], "logprobs": [-0.5]}
    rest = {**turn("é"), "tokens": [0xA9, *ANSWER.encode()], "logprobs": [-0.5] * (1 + len(ANSWER))}
    sample, _ = converse([half, rest], retool_invalid_action="")
    assert sample.response == f"é{ANSWER}"


def test_a_retried_sample_starts_clean():
    stale = Sample(
        prompt="ab", index=7, tokens=list(b"abold"), response="old", response_length=3, loss_mask=[1, 1, 1],
        rollout_log_probs=[-1.0] * 3, weight_versions=["9"], status=Status.ABORTED, metadata={"abort_reason": "x", "a": 1},
        rollout_top_p_token_ids=[1, 2, 3], rollout_top_p_token_offsets=[0, 1, 2, 3], rollout_routed_experts=[1],
        reward=1.0, teacher_log_probs=[0.0] * 3, non_generation_time=5.0,
    )  # fmt: skip
    stale.tool_call_count = 9
    again, _ = converse([CALL, ANSWER], sample=stale)
    new, _ = converse([CALL, ANSWER], sample=Sample(prompt="ab", index=7, metadata={"a": 1}))
    for one in (again, new):
        assert one.non_generation_time < 5
        one.non_generation_time = 0
        vars(one).pop("trace", None)
    assert again.to_dict() == new.to_dict()


# ---- prompts


def test_the_prompt_has_the_tools_and_leaves_the_assistant_to_speak():
    tools = [{"type": "function", "function": {"name": "code_interpreter"}}]
    text = format_conversation_with_tools("1+1?", tools, "Be exact.", [{"role": "assistant", "content": "2"}])
    assert text.startswith("<|im_start|>systemBe exact.\n# Tools\n") and text.endswith(
        "<|im_end|>\n<|im_start|>assistant"
    )
    listed = text.split("<tools>")[2].split("</tools>")[0]
    assert json.loads(listed) == tools[0]
    assert text.index("<tools>") < text.index("<|im_start|>user1+1?<|im_end|>\n<|im_start|>assistant2<|im_end|>\n")
    assert "# Tools" not in format_conversation_with_tools("1+1?")


def test_what_the_data_brings_is_no_template():
    hostile = "{{ 7 * 7 }}{% for x in range(9) %}{% endfor %}{{ ''.__class__ }}"
    text = format_conversation_with_tools(hostile, [], hostile, [{"role": "user", "content": hostile}])
    assert text.count(hostile) == 3


class Chat:
    def apply_chat_template(self, messages, tools, **options):
        return json.dumps([messages, [tool["function"]["name"] for tool in tools], options])


@pytest.mark.parametrize("prompt", ["1+1?", [{"role": "user", "content": "1+1?"}]])
def test_the_prompt_can_be_the_tokenizers_own(prompt):
    settings, tools = Settings(prompt="chat_template", system_prompt=""), tool_specs()
    sample = Sample(prompt=prompt, apply_chat_template_kwargs={"enable_thinking": False})
    text = prompt_text(sample, settings, tools, Chat())
    wanted = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False}
    assert json.loads(text) == [[{"role": "user", "content": "1+1?"}], ["code_interpreter"], wanted]
    with_system = Sample(prompt=[{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    assert "<|im_start|>systemS\n" in prompt_text(with_system, Settings(), tools, None)


def tool_specs():
    async def specs():
        return tool_registry().get_tool_specs()

    return asyncio.run(specs())


# ---- what a turn asks for


@pytest.mark.parametrize(
    ("turn", "found"),
    [
        ("so Answer: \\boxed{\\frac{1}{2}}.", ("answer", "\\frac{1}{2}")),
        (f"{CALL} and Answer: \\boxed{{7}}", ("answer", "7")),
        (CALL, ("code", "print(1)")),
        (
            '<tool_call>{"name": "code_interpreter", "arguments": {"code": "a = 1\n\tprint(a)"}}</tool_call>',
            ("code", "a = 1\n\tprint(a)"),
        ),
        (
            '<tool_call>{"name": "code_interpreter", "arguments": {"code": "print(\'</tool_call>\')"}} </tool_call>',
            ("code", "print('</tool_call>')"),
        ),
        (
            '<tool_call>{"name": "code_interpreter", "arguments": {"code": "d = {1: {2: 3}}"}}</tool_call>',
            ("code", "d = {1: {2: 3}}"),
        ),
        ("<code>print(2)</code>", ("code", "print(2)")),
        ("```python\nprint(3)\n```", ("code", "print(3)")),
        ("<tool_call>{broken</tool_call> ```python\nprint(3)\n```", ("code", "print(3)")),
        ("nothing", (None, "")),
        ("<tool_call>{broken}</tool_call>", (None, "")),
        ('<tool_call>{"name": "shell", "arguments": {"code": "ls"}}</tool_call>', (None, "")),
        ('<tool_call>{"name": "code_interpreter", "arguments": {"code": 5}}</tool_call>', (None, "")),
    ],
)
def test_tool_calls_are_read(turn, found):
    assert postprocess_predictions(turn) == found


@settings(max_examples=40, deadline=None)
@given(
    script=st.lists(
        st.tuples(
            st.sampled_from([CALL, ANSWER, "hm", "<tool_call>{", "é"]),
            st.sampled_from(["stop"] * 6 + ["length", "abort"]),
            st.sampled_from([{}] * 6 + [{"no_logprobs": True}, {"logprobs": [-0.5]}]),
        ),
        min_size=1,
        max_size=5,
    ),
    limit=st.integers(1, 400),
)
def test_whatever_happens_the_sample_is_coherent(script, limit):
    turns = [turn(text, finish) | fault for text, finish, fault in script]
    sample, server = converse(turns, rollout_max_context_len=limit, retool_max_turns=6)  # checks that lists are in step

    assert sample.status in (Status.COMPLETED, Status.TRUNCATED, Status.ABORTED)
    assert (sample.status is Status.ABORTED) == ("abort_reason" in sample.metadata)
    for request in server.requests:
        assert len(request["token_ids"]) + request["sampling_params"]["max_tokens"] <= limit


# ---- the real sandbox


def test_code_runs_in_the_sandbox(caplog, tmp_path, monkeypatch):
    use_real(monkeypatch)
    (secret := tmp_path / "secret").write_text("hidden")
    monkeypatch.setenv("RETOOL_SECRET", "hidden")
    with caplog.at_level(logging.INFO):
        found = executed(
            "1 + 2", "print(1 + 2)", f"print(open({str(secret)!r}).read())", "import os; print(os.environ.get('RETOOL_SECRET'))",
            "import socket; socket.socket()", "x = '\ud800'", "while True: pass", retool_python_timeout=1,
        )  # fmt: skip
    assert found[:2] == ["", "3"] and found[3] == "None"
    assert "FileNotFoundError" in found[2] and "PermissionError" in found[4] and "UnicodeEncodeError" in found[5]
    assert found[6].startswith("Error: it ") and "1 seconds" in found[6]
    assert "sandbox namespaces" in caplog.text and "network: on" in caplog.text and "hidden" not in str(found)


# ---- rewards


def reward(response, label="7", calls=0):
    sample = Sample(prompt="\\boxed{7}", response=response, label=label)
    sample.tool_call_count = calls
    return asyncio.run(reward_func(arguments(), sample, evaluation=True))


@pytest.mark.parametrize(
    ("response", "calls", "score", "pred"),
    [
        (ANSWER, 0, 1.0, "7"),
        (ANSWER, 9, 1.0, "7"),
        ("Answer: \\boxed{8}", 0, -1.1, "8"),
        ("Answer: \\boxed{8}", 2, -1.0, "8"),
        ("Answer: \\boxed{8}", 4, -0.9, "8"),
        ("Answer: \\boxed{8}", 16, -0.6, "8"),
        ("no answer", 0, -1.1, ""),
        ("", 0, -1.1, ""),
    ],
)
def test_rewards(response, calls, score, pred):
    found = reward(response, calls=calls)
    assert (found["score"], found["pred"], bool(found["acc"])) == (pytest.approx(score), pred, score > 0)


def test_labels_and_what_is_no_sample():
    assert reward(ANSWER, label=7)["score"] == 1.0
    assert reward(ANSWER, label=None)["score"] < 0
    with pytest.raises(TypeError, match="group-rm"):
        asyncio.run(reward_func(arguments(), [Sample()]))
