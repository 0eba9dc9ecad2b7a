"""The ReTool example's data scripts and launch scripts, run as a user runs them."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":  # pytest knows where the modules below are
    raise SystemExit(pytest.main([__file__, *sys.argv[1:]]))

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/retool"
SCRIPTS = ("retool_qwen3_4b_sft.sh", "retool_qwen3_4b_rl.sh")
QWEN3_4B = {
    "model_type": "qwen3", "vocab_size": 151936, "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 262144,
    "rms_norm_eps": 1e-6, "rope_theta": 5000000, "tie_word_embeddings": True,
}  # fmt: skip


def call(*words, cwd, **environment):
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    return subprocess.run(
        [*map(str, words)], cwd=cwd, env=os.environ | path | environment, capture_output=True, text=True, timeout=60
    )


def convert(script, rows, tmp_path, *more, to="out.jsonl"):
    """(what the script said, the rows that it wrote); texts among `rows` are lines as they stand."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (tmp_path / "in.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    words = (sys.executable, EXAMPLE / script, "--input", "in.jsonl", "--output", to, *more)
    done = call(*words, cwd=tmp_path)
    written = tmp_path / to
    assert {path.name for path in tmp_path.iterdir()} <= {"in.jsonl", to}
    if done.returncode or written.suffix != ".jsonl":
        return done, None
    return done, [json.loads(line) for line in written.read_text("utf-8").splitlines()]


def test_an_input_that_is_not_there_is_told_with_its_whole_path(tmp_path):
    words = (sys.executable, EXAMPLE / "rl_data_preprocess.py", "--input", "raw/DAPO", "--output", "out.jsonl")
    done = call(*words, cwd=tmp_path)
    assert done.returncode == 2 and f"there is no {tmp_path}/raw/DAPO" in done.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_without_the_environment_a_launch_script_says_so(script, tmp_path):
    (tmp_path / "vime").mkdir()  # as in the root of a clone
    done = call("bash", EXAMPLE / script, "--dry-run", cwd=tmp_path, PATH="/usr/bin:/bin")
    assert done.returncode == 2 and done.stderr.startswith("error: there is no command vime; activate")


def dapo(question, answer):
    return {"prompt": [{"role": "user", "content": question}], "reward_model": {"ground_truth": answer}, "extra": 1}


def test_prompts_for_reinforcement_learning(tmp_path):
    rows = [dapo("1+1?", "2"), {"prompt": "é?", "label": 3}, dapo("1+1?", "2")]
    done, written = convert("rl_data_preprocess.py", rows, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert written == [
        {"prompt": "1+1?", "label": "2"},
        {"prompt": "é?", "label": "3"},
        {"prompt": "1+1?", "label": "2"},
    ]
    done, written = convert("rl_data_preprocess.py", rows, tmp_path, "--unique")
    assert len(written) == 2 and "1 repeated" in done.stdout
    _, written = convert("rl_data_preprocess.py", rows, tmp_path, "--limit", "1")
    assert len(written) == 1


def test_a_folder_is_read_file_by_file(tmp_path):
    (tmp_path / "raw/.cache").mkdir(parents=True)
    for name in ("b.jsonl", "a.jsonl", ".cache/c.jsonl", "d.json"):
        (tmp_path / "raw" / name).write_text(json.dumps({"prompt": name, "label": 1}) + "\noops\n")
    words = (sys.executable, EXAMPLE / "rl_data_preprocess.py", "--input", "raw", "--output", "out.jsonl")
    done = call(*words, cwd=tmp_path)
    assert "raw/a.jsonl, line 2" in done.stderr and "raw/b.jsonl, line 2" in done.stderr
    assert [json.loads(line)["prompt"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [
        "a.jsonl",
        "b.jsonl",
    ]


def test_conversations_for_supervised_training(tmp_path):
    turns = [{"role": "user", "content": "1+1?", "x": 1}, {"role": "assistant", "content": "2"}]
    done, written = convert("sft_data_processing.py", [{"messages": turns, "y": 2}], tmp_path)
    assert done.returncode == 0
    assert written == [{"messages": [{"role": one["role"], "content": one["content"]} for one in turns]}]


BAD = {
    "rl_data_preprocess.py": [
        "no json", "[1]", "[" * 100_000, {"prompt": "x"}, {"prompt": [], "label": "2"}, {"prompt": " ", "label": "2"},
        {"prompt": [3], "label": "2"}, {"prompt": "x", "label": True}, {"prompt": "x", "label": ""},
        {"prompt": "x", "reward_model": "7"},
    ],
    "sft_data_processing.py": [
        {"messages": []}, {"messages": "x"}, {"messages": [3]}, {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "assistant", "content": None}]}, {"messages": [{"role": "user", "content": "x"}]},
    ],
}  # fmt: skip
GOOD = {
    "rl_data_preprocess.py": {"prompt": "x", "label": "1"},
    "sft_data_processing.py": {"messages": [{"role": "assistant", "content": "x"}]},
}


@pytest.mark.parametrize("script", BAD)
def test_bad_rows_are_named_counted_and_left_out(script, tmp_path):
    rows = [GOOD[script], *BAD[script], GOOD[script]]
    done, written = convert(script, rows, tmp_path)
    assert done.returncode == 0 and len(written) == 2
    assert [f"line {n}:" in done.stderr for n in range(1, len(rows) + 1)] == [False, *[True] * len(BAD[script]), False]
    assert f"{len(BAD[script])} bad ones" in done.stdout


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path):
    script = "rl_data_preprocess.py"
    _, written = convert(script, ["\ufeff" + json.dumps(GOOD[script])], tmp_path)
    assert len(written) == 1


@pytest.mark.parametrize("script", BAD)
@pytest.mark.parametrize("more", [[], ["--strict"]])
def test_nothing_is_written_where_it_would_be_wrong(script, more, tmp_path):
    (tmp_path / "out.jsonl").write_text("before\n")
    done, _ = convert(script, [GOOD[script]] * bool(more) + BAD[script][:1], tmp_path, *more)
    assert done.returncode == 2 and done.stderr.count("error: ") == 1
    assert (tmp_path / "out.jsonl").read_text() == "before\n"


@pytest.mark.parametrize(
    "more", [["--input", "none.jsonl"], ["--limit", "0"], ["--limit", "-1"], ["--output", "a.csv"]]
)
def test_a_wrong_word_is_told(more, tmp_path):
    done, _ = convert("rl_data_preprocess.py", [GOOD["rl_data_preprocess.py"]], tmp_path, *more)
    assert done.returncode == 2 and done.stderr.count("error: ") == 1 and "Traceback" not in done.stderr


@pytest.mark.parametrize("script", BAD)
def test_parquet_both_ways(script, tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    done, _ = convert(script, [GOOD[script]] * 3000, tmp_path, to="out.parquet")
    assert done.returncode == 0, done.stderr
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist() == [GOOD[script]] * 3000
    words = (sys.executable, EXAMPLE / script, "--input", "out.parquet", "--output", "again.jsonl")
    assert call(*words, cwd=tmp_path).returncode == 0
    assert len((tmp_path / "again.jsonl").read_text().splitlines()) == 3000


@pytest.mark.parametrize("script", BAD)
def test_help_has_an_example_that_runs(script, tmp_path):
    shown = call(sys.executable, EXAMPLE / script, "--help", cwd=tmp_path).stdout
    assert f"python examples/retool/{script} --input data/" in shown
    assert "/root" not in shown


# ---- launch scripts


@pytest.fixture
def world(tmp_path):
    """A folder with a space in its name, where everything is that the scripts name by default or by the environment."""
    home = tmp_path / "a folder"
    (home / "model").mkdir(parents=True)
    (home / "model/config.json").write_text(json.dumps(QWEN3_4B))
    for name in ("train.jsonl", "eval.jsonl"):
        (home / name).write_text('{"prompt": "x", "label": "1"}\n')
    told = home / "told.py"
    told.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([sys.argv[1:], os.environ['PYTHONPATH']]))\n"
    )
    told.chmod(0o755)
    places = {"MODEL": "model", "DATA": "train.jsonl", "EVAL_DATA": "eval.jsonl", "OUT": "the run", "VIME": "told.py"}
    return home, {name: str(home / place) for name, place in places.items()} | {"GPUS": "8"}


def launched(script, world, *more):
    home, environment = world
    done = call("bash", EXAMPLE / script, *more, cwd=home, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("script", SCRIPTS)
def test_paths_with_spaces_arrive_as_they_are(script, world):
    _, environment = world
    words, _ = launched(script, world, "--lr", "3e-6", "--prompt-data", "a b")
    for name in ("MODEL", "DATA"):
        assert environment[name] in words
    assert f"{environment['OUT']}/checkpoints" in words
    assert not [word for word in words if word.startswith(("/root", "${"))]
    assert words[0] == "train" and words[-4:] == ["--lr", "3e-6", "--prompt-data", "a b"]


def test_the_example_can_be_imported_by_the_run(world):
    _, path = launched("retool_qwen3_4b_rl.sh", world)
    assert path.split(":")[0] == str(EXAMPLE)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_minds_its_own_processes_and_quotes(script):
    text = (EXAMPLE / script).read_text()
    code = "\n".join(line.split(" #")[0] for line in text.splitlines() if not line.lstrip().startswith("#"))
    assert "set -euo pipefail" in code
    assert not re.search(r"\b(p?kill|killall|ray stop|ray start)\b|sglang|/root", code)
    bare = code
    for quoted in (r"^: .*$", r'"\$\(.*\)"$', r'"[^"\n]*"'):
        bare = re.sub(quoted, "", bare, flags=re.MULTILINE)
    assert "$" not in bare
    assert subprocess.run(["bash", "-n", EXAMPLE / script]).returncode == 0


def test_a_script_stops_where_vime_does(world):
    home, environment = world
    Path(environment["VIME"]).write_text("#!/bin/sh\nexit 7\n")
    assert call("bash", EXAMPLE / SCRIPTS[0], cwd=home, **environment).returncode == 7


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_flags_are_those_of_vime_train(script, world, monkeypatch):
    for name in ("vllm", "megatron.core"):
        if not _installed(name):
            pytest.skip(f"{name} is not installed")
    from vime.config import resolve as resolving
    from vime.config.packages import schema
    from vime.device import Device

    words, _ = launched(script, world)
    monkeypatch.setattr(resolving, "detect", lambda *_: Device("cuda", 8, "for the test"))
    config = resolving.resolve(words[1:], (), schema())
    told = [str(one) for one in config.warnings]
    assert config.args.hf_checkpoint == world[1]["MODEL"]
    # Upstream's gap, which is kept: a reference model that the loss does not need.
    assert all("use-kl-loss" in one for one in told), told
    if script.endswith("rl.sh"):
        assert len(told) == 1


def _installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def commands():
    """What the README says to type, but for what downloads and installs."""
    text = "".join(re.findall(r"```sh\n(.*?)```", (EXAMPLE / "README.md").read_text("utf-8"), re.DOTALL))
    lines = (line.partition("#")[0].strip() for line in text.replace("\\\n", " ").splitlines())
    return [line for line in lines if line and not line.startswith(("pip ", "hf "))]


def test_the_readmes_commands_work_in_their_order(world):
    home, environment = world
    (home / "examples").symlink_to(ROOT / "examples")
    rl = "rl_data_preprocess.py"
    for folder, script in {"ReTool-SFT": "sft_data_processing.py", "DAPO-Math-17k": rl, "aime-2024": rl}.items():
        (home / "data/raw" / folder).mkdir(parents=True)
        (home / "data/raw" / folder / "rows.jsonl").write_text(json.dumps(GOOD[script]))
    (home / "python").symlink_to(sys.executable)
    own = {"VIME": environment["VIME"], "PATH": f"{home}{os.pathsep}{os.environ['PATH']}"}
    typed = commands()
    assert len(typed) == 7
    for command in typed:
        if ".parquet" in command and not _installed("pyarrow"):
            command = command.replace(".parquet", ".jsonl")
        done = call("bash", "-c", command, cwd=home, **own)
        assert done.returncode == 0 and done.stdout, (command, done.stderr)
    assert (home / "data/dapo_math_17k_cleaned.jsonl").exists() and (home / "data/aime-2024.jsonl").exists()


def test_half_a_character_is_a_bad_row(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"prompt": "a\\ud800", "label": "1"}\n{"prompt": "b", "label": "2"}\n')
    words = [sys.executable, str(EXAMPLE / "rl_data_preprocess.py"), "--input", str(source), "--output", str(target)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and "1 rows; 1 bad ones" in done.stdout and "surrogate" in done.stderr
