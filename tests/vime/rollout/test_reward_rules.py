"""The rules that give rewards by name, and the grader process that may be killed."""

import asyncio
import os
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vime.rollout import rm_hub
from vime.rollout.rm_hub import async_rm, grading, math_dapo_utils, math_utils
from vime.rollout.rm_hub.deepscaler import get_deepscaler_rule_based_reward
from vime.rollout.rm_hub.f1 import f1_score, normalize_answer
from vime.rollout.rm_hub.gpqa import compute_gpqa_reward
from vime.rollout.rm_hub.grading import GraderPool
from vime.utils.types import Sample


@settings(max_examples=60)
@given(st.recursive(st.text("ab+ ", max_size=4), lambda inner: st.builds("{{{}}}{}".format, inner, inner)))
def test_the_last_box_is_found_whatever_is_in_it(inside):
    text = rf"first \boxed{{0}}, then \boxed{{{inside}}} and more"
    assert math_utils.extract_answer(text) == inside == math_utils.extract_boxed_answer(text)


@pytest.mark.parametrize("text", ["no box", r"\boxed{never", r"\boxed", ""])
def test_no_box(text):
    assert math_utils.extract_answer(text) is None and math_dapo_utils.last_boxed_only_string(text) is None


def test_boxes_of_both_modules():
    assert math_utils.last_boxed_only_string(r"\fbox{7}") == r"\fbox{7}"
    assert math_dapo_utils.last_boxed_only_string(r"\fbox{7}") is None
    assert math_utils.remove_boxed("x") is None
    with pytest.raises(AssertionError, match="box error"):
        math_dapo_utils.remove_boxed("x")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (r"\frac12", r"\frac{1}{2}", True),
        (r"\frac1{72}", r"\dfrac{1}{72}", True),
        (r"\frac{1}2", "0.5", True),
        (".5", "1/2", True),
        ("-3/4", r"\frac{-3}{4}", True),
        (r"\text{ 42 }", "42", True),
        (r"x = 5 \text{ cm}", "5", True),
        (r"\left( 1, 2 \right)", "(1,2)", True),
        (r"\sqrt3", r"\sqrt{3}", True),
        (r"45^\circ", r"45^{\circ}", True),
        ("42", "43", False),
    ],
)
def test_answers_that_are_written_alike(one, other, same):
    assert math_utils.grade_answer_mathd(one, other) is same


def test_minervas_normal_form():
    pairs = {"x = 42": "42", "1,234,567": "1234567", r"\boxed{42}": "42", "42 square": "42", "42<|im_end|>": "42"}
    assert {text: math_dapo_utils.normalize_final_answer(text) for text in pairs} == pairs
    assert math_dapo_utils.compute_score("Answer: 41\nAnswer: 42", "42.0") == {"score": 1.0, "acc": True, "pred": "42"}
    late = r"\boxed{42}" + " filler" * 60
    assert math_dapo_utils.compute_score(late, "42", strict_box_verify=True)["score"] == -1.0
    with pytest.raises(ValueError, match="no integer"):
        math_dapo_utils.compute_score("Answer: 1", "a half")


def test_f1_and_choices():
    assert normalize_answer("The, Quick  fox.") == "quick fox"
    assert f1_score("the brown fox", "a quick brown fox") == pytest.approx((0.8, 1.0, 2 / 3))
    assert f1_score("yes", "yes it is") == f1_score(None, "x") == (0, 0, 0)
    assert compute_gpqa_reward("A?</think>The answer is B.", "B") == 1.0
    assert compute_gpqa_reward("Answer: C", 2, {"choices": ["w", "x", "y", "z"]}) == 1.0
    assert compute_gpqa_reward("it is Paris.", "Paris", {"choices": ["London", "Paris"]}) == 1.0
    assert compute_gpqa_reward("Answer: A", "B") == compute_gpqa_reward(None, "A") == 0.0


def test_deepscaler_looks_behind_the_thinking():
    assert get_deepscaler_rule_based_reward(r"\boxed{9}</think>\boxed{42}", 42) == 1
    assert get_deepscaler_rule_based_reward(r"\boxed{9}###Response\boxed{42}", r"\boxed{42}") == 1
    assert get_deepscaler_rule_based_reward(r"\boxed{42}", "42") == 0
    assert get_deepscaler_rule_based_reward(r"</think>\boxed{42}", "") == 0


@pytest.fixture
def pool(monkeypatch):
    pytest.importorskip("math_verify")
    made = GraderPool(1, seconds=8)
    monkeypatch.setattr(math_utils, "graders", lambda: made)
    yield made
    made.close()


def test_as_many_graders_as_the_run_asks_for(monkeypatch):
    pool = GraderPool(1)
    monkeypatch.setattr(rm_hub, "graders", lambda: pool)

    def graded(processes):
        args = Namespace(custom_rm_path=None, rm_type="math", rm_processes=processes)
        return asyncio.run(async_rm(args, Sample(response=r"\boxed{42}", label="42")))

    assert [graded(3), pool.size, graded(2), pool.size] == [1, 3, 1, 3]
    pool.close()


@pytest.mark.parametrize(
    ("given_", "truth", "equal"),
    [
        ("x+1", "1+x", True),
        (r"\frac{\sqrt{3}}{3}", r"\frac{1}{\sqrt{3}}", True),
        (r"\frac{2}{4}", r"\frac{1}{2}", False),
        ("12,345", "12345", True),
        ("3.0", "3", True),
        ("x+2", "1+x", False),
        ("nonsense (", "1+x", False),
    ],
)
def test_mathematics(pool, given_, truth, equal):
    assert math_utils.grade_answer_sympy(given_, truth) is equal
    assert math_utils.grade_answer_verl(rf"so \boxed{{{given_}}}", truth) is (equal and "(" not in given_)


def test_text_of_a_model_is_never_run(pool, tmp_path):
    target = tmp_path / "written"
    for text in (
        f"__import__('os').system('touch {target}')",
        rf"\text{{open('{target}','w')}}",
        f"$x$;touch {target}",
    ):
        assert math_utils.grade_answer_sympy(text, "x+1") is False
    assert not target.exists()


def hanging(tmp_path):
    """A grader program that says ready, starts a child, and then never answers."""
    program = tmp_path / "hang.py"
    program.write_text(
        "import subprocess, sys, time\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid))\n"
        "print('\"ready\"', flush=True)\nsys.stdin.readline()\ntime.sleep(60)\n"
    )
    return program


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_a_grader_that_hangs_is_killed_with_its_children_by_its_deadline(monkeypatch, tmp_path):
    monkeypatch.setattr(grading, "_PROGRAM", hanging(tmp_path))
    pool, began = GraderPool(1, seconds=0.3), time.monotonic()
    assert pool.equal("1+x", "x+1") is False
    assert time.monotonic() - began < 5 and pool.counts == {"grader_failed": 1}
    time.sleep(0.1)
    assert not alive(int((tmp_path / "pid").read_text()))
    pool.close()


def test_a_grader_that_cannot_start_says_so(monkeypatch, tmp_path):
    program = tmp_path / "broken.py"
    program.write_text("import json; print(json.dumps('no module: pip install math-verify'))")
    monkeypatch.setattr(grading, "_PROGRAM", program)
    with pytest.raises(grading.GraderMissing, match="pip install math-verify"):
        GraderPool(1).equal("1", "2")


def test_a_grader_ends_with_its_parent(pool, tmp_path):
    code = (
        "from vime.rollout.rm_hub.grading import Grader; import os\n"
        "g = Grader(); g.equal('x+1', '1+x', 30); print(g._process.pid, flush=True); os._exit(0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    pid = int(done.stdout)
    for _ in range(50):
        if not alive(pid):
            break
        time.sleep(0.1)
    assert not alive(pid)
