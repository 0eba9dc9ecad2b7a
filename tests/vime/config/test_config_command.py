"""`vime train --dry-run` and `vime --help` as a user sees them."""

import json
import shutil
import subprocess
import sys
import time

import pytest
from config_world import ROOT, alone, enough, made, quickstart, vime
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vime.config.resolve import resolve
from vime.config.show import as_json, as_text

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def test_a_dry_run_shows_each_value_and_where_it_is_from(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("# a run\nrollout_temperature: 0.7\n")
    done = vime("train", *enough(tmp_path), "--config", str(file), "--lr", "1e-3", "--dry-run")
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout
    lines = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  ")}
    assert lines["rollout_temperature"] == ["0.7", f"{file}:2"] and lines["lr"] == ["0.001", "--lr"]
    assert lines["eps_clip"] == ["0.2", "default"] and lines["eps_clip_high"] == ["0.2", "derived:", "as", "--eps-clip"]


def test_problems_go_to_stderr_one_a_line(tmp_path):
    done = vime("train", "--lr", "x", "--nonsense", "--config", "--dry-run")
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr
    assert all(line.startswith("error: ") and "; " in line for line in done.stderr.splitlines())
    assert "error: --config: the file is missing; write --config FILE.yaml" in done.stderr
    assert (
        "no.yaml: cannot be read (No such file or directory)"
        in vime("train", "--config", "no.yaml", "--dry-run").stderr
    )


@pytest.mark.parametrize("text", [None, "a: [", "- a list"])
def test_of_a_file_that_cannot_be_read_nothing_is_said_to_be_missing(tmp_path, text):
    file = tmp_path / "run.yaml"
    if text is not None:
        file.write_text(text)
    (said,) = vime("train", "--config", str(file), "--dry-run").stderr.splitlines()
    assert said.startswith(f"error: {file}")


def test_a_file_without_its_flag_is_told_how_to_be_written(tmp_path):
    assert "run.yaml: not a flag; write --config run.yaml" in vime("train", "run.yaml").stderr


def test_a_path_that_leads_nowhere_from_here_says_where_here_is(tmp_path):
    home, elsewhere = quickstart(tmp_path / "home"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ("train", "--config", str(home / "examples/quickstart_cpu/config.yaml"), "--dry-run")
    assert vime(*words, cwd=home).returncode == 0
    assert f"out/warm/config.json in {elsewhere}" in vime(*words, cwd=elsewhere).stderr


def test_without_the_packages_of_a_run_it_says_what_installs_them(tmp_path):
    """As after `make env`, which is for `sync` alone."""
    package = tmp_path / "without"
    package.mkdir()
    (package / "sitecustomize.py").write_text("import sys\nsys.modules['ray'] = None\n")
    done = vime("train", *enough(tmp_path), "--run-dir", str(tmp_path / "run"), path=package)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert "is not installed; in a clone: make env-train" in done.stderr and not (tmp_path / "run").exists()


def test_a_later_file_wins_over_an_earlier_one(tmp_path):
    (tmp_path / "a.yaml").write_text("lr: 1\neps_clip: 0.1\n")
    (tmp_path / "b.yaml").write_text("lr: 2\n")
    args = made(enough(tmp_path), tmp_path / "a.yaml", tmp_path / "b.yaml").args
    assert (args.lr, args.eps_clip) == (2, 0.1)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lr=st.floats(0, 10),
    stop=st.none() | st.lists(TEXT, max_size=3),
    label=st.none() | TEXT,
    extra=st.dictionaries(TEXT, st.none() | st.booleans() | TEXT | st.lists(st.floats(-9, 9), max_size=2), max_size=3),
    std=st.booleans(),
    steps=st.sampled_from([None, 1, 2, 4]),
)
def test_what_is_shown_reads_back_as_it_was(tmp_path, lr, stop, label, extra, std, steps):
    first = tmp_path / "first.json"
    values = {"lr": lr, "rollout_stop": stop, "label_key": label, "apply_chat_template_kwargs": extra}
    first.write_text(json.dumps(values | {"grpo_std_normalization": std, "num_steps_per_rollout": steps}))
    config = made(enough(tmp_path), first)
    shown = json.loads(as_json(config))
    second = tmp_path / "second.yaml"
    second.write_text(as_json(config).split('"config": ')[1].split(',\n  "origins"')[0], "utf-8")
    again = resolve([], [second], alone())
    assert vars(again.args) == vars(config.args)
    assert json.loads(as_json(again))["config"] == shown["config"]


def test_secrets_are_masked(tmp_path):
    words = ["--wandb-key", "hunter2", "--http-proxy", "http://me:hunter2@proxy:1", "--train-env-vars"]
    config = made([*enough(tmp_path), *words, '{"WANDB_API_KEY": "hunter2", "HF_TOKEN": "hunter2", "MODE": "fast"}'])
    assert config.args.wandb_key == "hunter2"
    for shown in (as_json(config), as_text(config)):
        assert "hunter2" not in shown and "fast" in shown and "***@proxy:1" in shown


def test_more_attributes_come_from_a_custom_file(tmp_path):
    custom = tmp_path / "mine.yaml"
    custom.write_text("my_bonus: [1, {a: 2.5}]\neps_clip: 0.3\nlr: 1\n")
    args = made([*enough(tmp_path), "--custom-config-path", str(custom), "--lr", "2"]).args
    assert (args.my_bonus, args.eps_clip, args.lr) == ([1, {"a": 2.5}], 0.3, 2)


def test_the_quick_starts_configuration_resolves(tmp_path):
    words = ("train", "--config", "examples/quickstart_cpu/config.yaml", "--dry-run", "--json")
    done = vime(*words, cwd=quickstart(tmp_path))
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["device"]["backend"] == "gloo" and shown["config"]["global_batch_size"] == 128
    assert shown["megatron"]["num_layers"] == 2 and shown["engine"]["max_model_len"] == 64


def test_a_quick_start_that_is_not_prepared_says_how(tmp_path):
    shutil.rmtree(quickstart(tmp_path) / "examples/quickstart_cpu/out")
    done = vime("train", "--config", "examples/quickstart_cpu/config.yaml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2 and "run python examples/quickstart_cpu/prepare.py" in done.stderr


@pytest.mark.parametrize(
    "words", [["--help"], ["--help", "all"], ["--help", "rollout"], ["train", "--help"], ["--help", "--lr"], []]
)
def test_help_is_there(words):
    done = vime(*words)
    assert done.returncode == 0 and done.stderr == "" and max(map(len, done.stdout.splitlines())) <= 130
    assert {
        "--help all": "--eps-clip-high X",
        "--help rollout": "--rollout-temperature",
        "--help --lr": "Step size.",
    }.get(" ".join(words), "options by group") in done.stdout


def test_help_of_something_unknown():
    done = vime("--help", "nonsense")
    assert done.returncode == 2 and "there are cluster, model," in done.stderr


def test_help_imports_nothing_heavy_and_is_quick():
    code = "import sys; from vime.cli import main; main(['--help']); print([m for m in sys.modules if m in {heavy}])"
    heavy = ("torch", "vllm", "ray", "numpy", "aiohttp", "ruamel.yaml", "pydantic", "argparse", "asyncio")
    done = subprocess.run([sys.executable, "-c", code.format(heavy=heavy)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]"
    spent = min(_seconds(["-m", "vime.cli", "--help"]) - _seconds(["-c", ""]) for _ in range(3))
    assert spent < 0.5


def _seconds(words: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], capture_output=True, cwd=ROOT, check=True)
    return time.perf_counter() - start
