"""Answers of a model that mean harm, and rewards that are not what was agreed: no rule hangs, and no run fails of one."""

import asyncio
import importlib
import time

import pytest
from rollout_world import options
from tool_calls import postprocess_predictions, postprocess_responses, read_action

from vime.rollout import rm_hub
from vime.rollout.normalised_rewards import post_process_rewards
from vime.rollout.rewarding import RewardFailed, RewardInvalid, RewardRunner
from vime.rollout.rm_hub import grading, math_dapo_utils, math_utils
from vime.rollout.rm_hub.deepscaler import get_deepscaler_rule_based_reward
from vime.rollout.rm_hub.f1 import f1_score
from vime.rollout.rm_hub.gpqa import compute_gpqa_reward
from vime.rollout.rm_hub.grading import GraderPool
from vime.utils.types import Sample

exact_match = importlib.import_module("vime.rollout.rm_hub.exact_match").exact_match  # not the function of that name
LENGTH = 20_000
"""Characters: a rule whose work grows with their square takes many seconds."""
RULES = {
    "exact_match": lambda text: exact_match(text, "1"),
    "f1": lambda text: f1_score(text, "a b c"),
    "gpqa": lambda text: compute_gpqa_reward(text, "B"),
    "gpqa by text": lambda text: compute_gpqa_reward(text, "Paris", {"choices": ["London", "Paris"]}),
    "math": lambda text: math_utils.grade_answer_verl(f"\\boxed{{{text}}}", "1"),
    "math without a box": lambda text: math_utils.grade_answer_verl(text, "1"),
    "deepscaler": lambda text: get_deepscaler_rule_based_reward(f"</think>\\boxed{{{text}}}", "1"),
    "dapo": lambda text: math_dapo_utils.compute_score(text, "1"),
    "dapo, strict": lambda text: math_dapo_utils.compute_score(text, "1", strict_box_verify=True),
    "tool call": read_action,
    "tool call, by parts": postprocess_predictions,
    "end of a tool call": postprocess_responses,
}
GAPS = [" ", "\n", "\t", "\u3000"]
AGAIN = [
    *("\\boxed{", "{", "}", "{}", "Answer: \\boxed{", "Answer: \\boxed{x}", "\\frac{", "\\text{", "$", "=", "1", "٣", "²"),
    *("1,", ",111", "<code>", "<code></code", "```python", "<tool_call>", "<tool_call></tool_call>", "</think>", "</tool_call>"),
    *('<tool_call>{"a":', "<tool_call>[", "[", "answer ", "a ", "option is", "İ", "\0", "\ud800", "\ufeff", "\u202e"),
]  # fmt: skip
BEFORE_A_GAP = ["answer", "answer is", "answer:", "a is", "a is the", "final", "final answer is", "Answer:", "\\sqrt", "<tool_call>"]  # fmt: skip
TEXTS = [(again * (LENGTH // len(again) + 1))[:LENGTH] for again in AGAIN]
TEXTS += [f"{head}{gap * LENGTH}1" for head in BEFORE_A_GAP for gap in GAPS]
TEXTS += [(f"{head}{gap * 100}1" * (LENGTH // 100)) for head in BEFORE_A_GAP for gap in GAPS[:1]]
TEXTS += [head + again * (LENGTH // len(again)) for head in ("Answer: \\boxed{", '<tool_call>"', "$") for again in ("a", "{}", "\\")]  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_the_work_of_a_rule_grows_with_the_text_and_no_faster(rule):
    slowest = 0.0
    for text in TEXTS:
        began = time.process_time()
        RULES[rule](text)
        slowest = max(slowest, time.process_time() - began)
    assert slowest < 1


def test_a_choice_is_found_behind_any_gap():
    for gap in ("", " ", " " * LENGTH, "\n\n"):
        for said in (
            f"answer{gap}is{gap}B",
            f"Answer{gap}:{gap}B",
            f"option{gap} B",
            f"B{gap} is{gap} the{gap} correct one",
        ):
            assert compute_gpqa_reward(f"I say: {said}", "B", {"choices": list("wxyz")}) == 1.0, said[:30]


@pytest.mark.parametrize(("given", "truth", "equal"), [
    ("9007199254740993", "9007199254740992", False), ("1" * 400, "2" * 400, False), ("1" * 400, "1" * 400 + ".0", True),
    ("9007199254740993.000", "9007199254740993", True), ("-0", "0", True), ("٣", "3", True),
])  # fmt: skip
def test_long_integers_are_compared_digit_by_digit(given, truth, equal):
    assert math_utils.grade_answer_sympy(given, truth) is equal


def test_a_long_label_is_the_integer_that_it_says():
    label = "12345678901234567891"
    assert math_dapo_utils.compute_score(f"Answer: {label}", label)["acc"]
    assert not math_dapo_utils.compute_score(f"Answer: {label[:-1]}2", label)["acc"]


SLOW = "import json, sys, time\nprint(json.dumps('ready'), flush=True)\nfor line in sys.stdin:\n    time.sleep(0.4)\n    print('true', flush=True)"  # fmt: skip


def test_the_wait_for_a_grader_is_no_failure(monkeypatch, tmp_path):
    """A rollout's answers wait for few graders, and one that is hard to compare takes seconds: that stops no run."""
    program = tmp_path / "slow.py"
    program.write_text(SLOW)
    monkeypatch.setattr(grading, "_PROGRAM", program)
    pool = GraderPool(1)
    for module in (rm_hub, math_utils):
        monkeypatch.setattr(module, "graders", lambda: pool)
    args = options(rm_type="math", rm_processes=1, rm_timeout=0.3, rm_retries=0, rm_on_failure="fail")
    samples = [Sample(index=i, response=f"\\boxed{{x+{i}}}", label="y") for i in range(4)]

    async def go():
        RewardRunner.clear_instances()
        runner = RewardRunner(args)
        await asyncio.gather(*(runner.reward_one(args, sample) for sample in samples))
        return runner.failures

    assert asyncio.run(go()) == {} and [sample.reward for sample in samples] == [1] * 4
    pool.close()


async def never(url, question, max_retries):
    await asyncio.sleep(60)


def test_a_service_that_does_not_answer_has_its_deadline(monkeypatch):
    monkeypatch.setattr(rm_hub, "post", never)
    with pytest.raises(RewardFailed, match=r"no answer within 0\.2 s"):
        rewarded(rm_type="remote_rm", rm_url="http://127.0.0.1:1", rm_timeout=0.2)


def page(args, sample, **_):
    return "<html>" + "x" * 1_000_000


def huge(args, sample, **_):
    return 10**400


def many(args, sample, **_):
    return {f"key{number}": 1.0 for number in range(100_000)}


def talkative(args, sample, **_):
    raise RuntimeError("x" * 1_000_000)


def rewarded(**more):
    args, sample = options(**more), Sample(index=3, group_index=0)
    RewardRunner.clear_instances()
    asyncio.run(RewardRunner(args).reward_one(args, sample))
    return args, sample


@pytest.mark.parametrize("bad", ["page", "huge", "many", "talkative"])
def test_what_a_reward_function_says_is_told_in_a_line(bad):
    with pytest.raises(RewardFailed) as raised:
        rewarded(custom_rm_path=f"{__name__}.{bad}", reward_key="score" if bad == "many" else None)
    assert len(str(raised.value)) < 700
    assert isinstance(raised.value, RewardInvalid) == (bad != "talkative")


def right(args, sample, **_):
    return True


@pytest.mark.parametrize("normalised", [True, False])
def test_true_is_a_reward_of_one_wherever_it_goes(normalised):
    """Many functions of users' return what a comparison gave them."""
    args, sample = rewarded(custom_rm_path=f"{__name__}.right", rewards_normalization=normalised)
    raw, rewards = post_process_rewards(args, [sample])
    assert {type(number) for number in (*raw, *rewards)} == {float} and raw == [1.0]
