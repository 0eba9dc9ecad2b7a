"""Command lines are quoted, keep no secret, and nothing is started for a script that is not there."""

import shlex

import pytest

from vime.utils.external_utils import command_utils as utils


@pytest.fixture
def commands(monkeypatch, tmp_path):
    lines = []
    monkeypatch.setattr(utils, "exec_command", lambda line, capture_output=False: lines.append(line) or "0")
    monkeypatch.setattr(utils, "repo_base_dir", tmp_path)
    monkeypatch.delenv("VIME_SCRIPT_EXTERNAL_RAY", raising=False)
    return lines


def put(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


@pytest.mark.parametrize(("value", "truth"), [("1", True), ("True", True), ("0", False), ("false", False)])
def test_booleans_of_the_environment(monkeypatch, value, truth):
    monkeypatch.setenv("VIME_TEST_X", value)
    assert utils.get_bool_env_var("VIME_TEST_X") is truth
    monkeypatch.setenv("VIME_TEST_X", "maybe")
    with pytest.raises(ValueError, match="VIME_TEST_X is 'maybe'"):
        utils.get_bool_env_var("VIME_TEST_X")
    monkeypatch.delenv("VIME_TEST_X")
    assert utils.get_bool_env_var("VIME_TEST_X", "1") is True


def test_a_job_is_submitted(commands, tmp_path):
    put(tmp_path, "train.py", "scripts/models/tiny.sh")
    config = utils.ExecuteTrainConfig(extra_env_vars="A=1 B=x=y")
    utils.execute_train("--rollout-batch-size 4", 2, "tiny", extra_env_vars={"QUOTE": "it's"}, config=config)
    submit = commands[-1]
    assert submit.startswith(f"source {tmp_path}/scripts/models/tiny.sh && ")
    assert submit.endswith(f'-- python3 {tmp_path}/train.py "${{MODEL_ARGS[@]}}" --rollout-batch-size 4')
    environment = next(word for word in shlex.split(submit) if word.startswith("--runtime-env-json="))
    assert all(
        part in environment for part in ('"A": "1"', '"B": "x=y"', '"QUOTE": "it\'s"', '"PYTHONUNBUFFERED": "1"')
    )
    assert [line.split()[:2] for line in commands[:2]] == [["ray", "stop"], ["ray", "start"]]


def test_a_script_that_is_not_there_starts_nothing(commands):
    with pytest.raises(FileNotFoundError, match=r"no train\.py"):
        utils.execute_train("", 1, None)
    assert commands == []


def test_a_cluster_of_somebody_elses_is_left_alone(commands, tmp_path, monkeypatch):
    put(tmp_path, "train.py")
    monkeypatch.setenv("VIME_SCRIPT_EXTERNAL_RAY", "1")
    utils.execute_train("", 1, None, before_ray_job_submit=lambda: commands.append("before"))
    assert not [line for line in commands if "ray st" in line]
    assert "MODEL_ARGS" not in commands[-1] and commands[0] == "before"


def test_checkpoints_are_converted_once(commands, tmp_path):
    put(tmp_path, "tools/convert_hf_to_torch_dist.py", "scripts/models/tiny.sh")
    utils.convert_checkpoint("M", "tiny", 2, extra_args="--x 1", dir_dst=str(tmp_path))
    assert len(commands) == 1 and commands[0].endswith(
        f"--hf-checkpoint /root/models/M --save {tmp_path}/M_torch_dist --x 1"
    )
    (tmp_path / "M_torch_dist").mkdir()
    utils.convert_checkpoint("M", "tiny", 2, dir_dst=str(tmp_path))
    assert len(commands) == 1


def test_datasets(commands):
    utils.hf_download_dataset("owner/name")
    assert commands == ["hf download --repo-type dataset owner/name --local-dir /root/datasets/name"]


def test_the_key_of_wandb_stands_nowhere(monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    assert utils.get_default_wandb_args(__file__) == ""
    monkeypatch.setenv("WANDB_API_KEY", "hunter2")
    monkeypatch.setenv("GITHUB_COMMIT_NAME", "abc")
    line = utils.get_default_wandb_args("tests/e2e/run.py", "pre", "id")
    assert "hunter2" not in line
    assert line.split()[1:5] == ["--wandb-project", "vime-e2e_run", "--wandb-group", "pre_id_abc"]
