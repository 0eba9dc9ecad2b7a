"""Evaluation sets are looked at when arguments are checked: what they say for themselves, too."""

import pytest
from config_world import enough, problems

SETS = "eval:\n  datasets:\n    - {name: a, path: a.jsonl, %s}\n"


def told(tmp_path, text, *more):
    file = tmp_path / "eval.yaml"
    file.write_text(text) if isinstance(text, str) else file.write_bytes(text)
    return problems([*enough(tmp_path), "--eval-config", str(file), *more])


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("temperature: hot", "evaluation set a: temperature: 'hot' is of the wrong type; give number"),
        ("temperature: -1", "-1.0 is less than 0"),
        ("temperature: true", "True is of the wrong type"),
        ("temperature: .nan", "is not finite"),
        ("top_p: 7", "top_p: 7.0 is more than 1"),
        ("top_k: 1.5", "top_k: '1.5' is not a whole number"),
        ("max_response_len: 0", "0 is less than 1"),
        ("n_samples_per_eval_prompt: 0", "0 is less than 1"),
        ("stop: END", "stop: 'END' is no list"),
        ("stop_token_ids: [x]", "'x' is of the wrong type"),
        ("min_new_tokens: 9, max_response_len: 8", "answers of 9 tokens at least and 8 at most"),
        ("rm_type: maths", "there is no reward maths; choose one of exact_match"),
        ("min_eval_samples: -2", "a whole number above 0, not -2"),
        ("temprature: 1", "nothing reads temprature"),
        ("metadata_overrides: 3", "metadata_overrides is a mapping, not int"),
    ],
)
def test_a_wrong_value_of_a_set_is_told(tmp_path, own, said):
    found = told(tmp_path, SETS % own)
    assert len(found) == 1 and found[0].startswith("--eval-config: ") and said in found[0], found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a mapping with `eval:`"),
        ("- a\n", "a mapping with `eval:`"),
        ("eval: 3\n", "a mapping with `eval:`"),
        ("eval: {datasets: 3}\n", "a list or a mapping, not int"),
        ("eval: {datasets: [a]}\n", "each of eval.datasets is a mapping, not str"),
        ("eval: {datasets: {a: 3}}\n", "eval set a is a mapping, not int"),
        ("eval: {datasets: {a: {path: 3}}}\n", "name and path are texts"),
        ("eval: {defaults: [1], datasets: {a: {path: b}}}\n", "eval.defaults is a mapping, not list"),
        ("eval: {a: 1, a: 2}\n", "duplicate key"),
        ("eval:\n\t- a\n", "--eval-config"),
        (b"\xff\xfe\xff", "--eval-config"),
    ],
)
def test_a_file_of_another_shape_is_told(tmp_path, text, said):
    found = told(tmp_path, text)
    assert len(found) == 1 and said in found[0], found


def test_sets_that_can_be_read_are_not_told(tmp_path):
    own = "temperature: 0, top_p: 0.5, stop: [a], rm_type: boxed_math, n_samples_per_eval_prompt: 4"
    assert told(tmp_path, SETS % own, "--eval-interval", "3") == []


def test_a_wrong_option_that_sets_follow_is_told_once(tmp_path):
    (line,) = told(tmp_path, SETS % "rm_type: math", "--eval-temperature", "hot")
    assert line.startswith("--eval-temperature: 'hot'")


def test_names_and_files_come_in_turn(tmp_path):
    found = problems([*enough(tmp_path), "--eval-prompt-data", "a", "a.jsonl", "b"])
    assert len(found) == 1 and "in turn" in found[0] and "give NAME FILE for each set" in found[0]
    found = problems([*enough(tmp_path), "--eval-prompt-data", "a", "a.jsonl", "a", "b.jsonl"])
    assert len(found) == 1 and "a stands twice" in found[0]


def test_a_reward_of_groups_has_none_for_the_answers_of_an_evaluation(tmp_path):
    words = [*enough(tmp_path), "--group-rm", "--eval-interval", "2", "--eval-prompt-data", "a", "a.jsonl"]
    (line,) = problems(words)
    assert line.startswith("--group-rm, --eval-interval: a reward of whole groups has none")
    assert problems([*words, "--eval-function-path", "mine.evaluate"]) == []
