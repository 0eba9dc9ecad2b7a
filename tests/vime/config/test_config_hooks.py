"""What options name is loaded when arguments are checked, and may bring rules of its own."""

import sys
from collections.abc import Iterator

import pytest
from config_world import enough, refused, vime

from vime.config.problems import Problem
from vime.config.rules.check import Check
from vime.rollout.hooks import with_rules


def whole_answers(c: Check) -> Iterator[Problem]:
    if c.partial_rollout:
        yield c.problem("partial_rollout", "generate begins every answer anew", "leave it out")
    if c.rollout_temperature > 1:
        yield c.problem("rollout_temperature", "this is too hot for it", "lower it")


@with_rules(whole_answers)
async def generate(args, sample, sampling_params):
    return sample


async def reward(args, sample):
    return 1.0


GENERATE = ["--custom-generate-function-path", f"{__name__}.generate"]


@pytest.mark.parametrize("dry", [True, False])
def test_a_function_says_itself_what_it_cannot_do(tmp_path, dry):
    assert refused([*enough(tmp_path), *GENERATE], dry=dry) == []
    found = refused([*enough(tmp_path), *GENERATE, "--partial-rollout"], dry=dry)
    assert found == ["--partial-rollout: generate begins every answer anew; leave it out"]


def test_its_rules_are_run_with_all_others_and_say_where_a_value_was_written(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("lr: 1\npartial_rollout: true\nrollout_temperature: warm\n")
    found = refused([*enough(tmp_path), *GENERATE, "--tensor-model-parallel-size", "3", "--rm-type", "x"], file)
    assert {"--rm-type", "--tensor-model-parallel-size"} <= {line.split(":")[0] for line in found}
    assert f"{file}:2 (partial_rollout): generate begins every answer anew; leave it out" in found
    assert not any("too hot" in line for line in found)  # its value is told to be wrong, and nothing more


def test_a_module_that_is_not_found_is_told_with_the_folders_that_were_looked_at(tmp_path, monkeypatch):
    words = [*enough(tmp_path), "--custom-rm-path", "no_such_folder.rewards.judge", "--custom-loss-function-path"]
    monkeypatch.setenv("PYTHONPATH", "/some/where")
    found = refused([*words, "nor_this.loss", "--loss-type", "custom_loss"])
    assert found == [
        "--custom-rm-path: no_such_folder.rewards.judge: there is no module no_such_folder; "
        "put the folder that it is in on PYTHONPATH, which is /some/where",
        "--custom-loss-function-path: nor_this.loss: there is no module nor_this; "
        "put the folder that it is in on PYTHONPATH, which is /some/where",
    ]


def test_a_module_that_breaks_says_how(tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("import surely_not_installed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (line,) = refused([*enough(tmp_path), "--custom-rm-path", "broken_module.judge"])
    assert "cannot be imported: ModuleNotFoundError: No module named 'surely_not_installed'" in line
    assert line.endswith("mend it until python -c 'import broken_module' works")
    sys.modules.pop("broken_module", None)


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_the_command_says_it_and_starts_nothing(tmp_path, more):
    words = ["--custom-rm-path", "rewards_of_mine.judge", "--run-dir", str(tmp_path / "run"), *more]
    done = vime("train", *enough(tmp_path), *words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and "there is no module rewards_of_mine" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "run").exists()


def test_what_an_evaluation_set_names_is_loaded_too(tmp_path):
    sets = tmp_path / "eval.yaml"
    sets.write_text(
        f"eval: {{datasets: {{a: {{path: a.jsonl, custom_rm_path: {__name__}.reward}},"
        "b: {path: b.jsonl, custom_generate_function_path: nor_this.generate}}}"
    )
    (line,) = refused([*enough(tmp_path), "--eval-config", str(sets)], dry=True)
    assert line.startswith("--eval-config: nor_this.generate: there is no module nor_this")


SFT = ["--rollout-function-path", "vime.rollout.sft_rollout.generate_rollout"]
STREAM = ["--custom-generate-function-path", "vime.rollout.vllm_streaming_rollout.generate_streaming"]
IMAGES = ["--multimodal-keys", '{"image": "images"}']


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([*SFT, "--n-samples-per-prompt", "2"], "a conversation once; set it to 1"),
        ([*SFT, "--apply-chat-template"], "applies the template itself"),
        ([*SFT, "--eval-interval", "2", "--eval-prompt-data", "prompts.jsonl"], "no evaluation of its own"),
        (IMAGES, "requests to the engines carry no images"),
        ([*IMAGES, *STREAM], "requests to the engines carry no images"),
    ],
)
def test_what_the_frameworks_own_functions_cannot_do(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    found = refused([*enough(tmp_path), *words])
    assert len(found) == 1 and said in found[0], found


def test_images_are_the_business_of_a_generate_function_that_brings_no_rule(tmp_path):
    assert refused([*enough(tmp_path), *IMAGES, *GENERATE]) == []
