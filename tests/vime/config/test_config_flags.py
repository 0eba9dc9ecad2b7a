"""The command line and the file: the same values either way, flags over files, every mistake told at once."""

import json

import pytest
from config_world import enough, made, problems
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vime.config.option import Option
from vime.config.schema import own_options

QUIET = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
FREE = {
    "lr": st.floats(0, 10),
    "rollout_seed": st.integers(-(2**40), 2**40),
    "rollout_stop": st.none() | st.lists(TEXT, max_size=3).map(tuple),
    "rollout_stop_token_ids": st.none() | st.lists(st.integers(-5, 9999), max_size=3).map(tuple),
    "label_key": st.none() | TEXT,
    "input_key": TEXT,
    "use_tensorboard": st.booleans(),
    "rewards_normalization": st.booleans(),
    "wandb_team": st.none() | TEXT,
    "apply_chat_template_kwargs": st.dictionaries(
        TEXT, st.none() | st.booleans() | TEXT | st.integers(-9, 9), max_size=3
    ),
}
VALUES = st.fixed_dictionaries({}, optional=FREE)
OPTIONS = {option.name: option for option in own_options()}


def words_of(values: dict) -> dict[str, list[str]]:
    """The values as flags, by their options; what no flag can say (null) is left out."""
    said = {name: _words(OPTIONS[name], value) for name, value in values.items() if value is not None}
    return {name: words for name, words in said.items() if words}


def _words(option: Option, value: object) -> list[str]:
    if option.kind == "bool":
        mine, other = (option.flags, option.off_flags) if value else (option.off_flags, option.flags)
        return [mine[0] if mine else "--no-" + other[0].removeprefix("--")]
    if isinstance(value, tuple):
        dashed = any(one.startswith("--") for one in map(str, value))
        return [] if dashed else [option.flag, *map(str, value)]
    text = json.dumps(value) if option.kind == "json" else repr(value) if isinstance(value, float) else str(value)
    return [f"{option.flag}={text}"]


@QUIET
@given(in_file=VALUES, in_flags=VALUES)
def test_flags_win_over_the_file_over_the_default(tmp_path, in_file, in_flags):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(in_file), "utf-8")
    flags = words_of(in_flags)
    args = made([*enough(tmp_path), *(word for words in flags.values() for word in words)], file).args
    for name in FREE:
        expected = in_flags[name] if name in flags else in_file.get(name, OPTIONS[name].default)
        assert getattr(args, name) == expected, name


@pytest.mark.parametrize(
    ("in_file", "flag", "name", "value"),
    [
        ("apply_chat_template: true", "--no-apply-chat-template", "apply_chat_template", False),
        ("disable_rewards_normalization: true", "--no-disable-rewards-normalization", "rewards_normalization", True),
        ("no_load_optim: true", "--no-no-load-optim", "no_load_optim", False),
    ],
)
def test_a_switch_that_a_file_sets_is_taken_back_by_a_flag(tmp_path, in_file, flag, name, value):
    file = tmp_path / "run.yaml"
    file.write_text(in_file)
    assert getattr(made([*enough(tmp_path)], file).args, name) is not value
    assert getattr(made([*enough(tmp_path), flag], file).args, name) is value


def test_a_file_takes_names_with_dashes_attributes_switches_and_groups(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(
        "rollout:\n  rollout-temperature: 0.5\n  rollout_stop: [a, '1', null_]\n"
        "disable-rewards-normalization: true\ngrpo_std_normalization: false\nalgorithm: {lambd: 0.5}\n"
        "colocate: false\nload: null\nvllm:\nupdate_weight_buffer_size: 2MiB\nlabel_key: 12\nlr: 1e-3\n"
        "train_env_vars: {A: '1'}\nrollout_health_check_interval: 2m\n"
    )
    config = made(enough(tmp_path), file)
    args = config.args
    assert (args.rollout_temperature, args.rollout_stop, args.lambd) == (0.5, ("a", "1", "null_"), 0.5)
    assert (args.rewards_normalization, args.grpo_std_normalization, args.colocate) == (False, False, False)
    assert (args.update_weight_buffer_size, args.label_key, args.lr) == (2 * 1024**2, "12", 1e-3)
    assert (args.train_env_vars, args.rollout_health_check_interval) == ({"A": "1"}, 120)
    assert config.origins["rollout_temperature"] == f"{file}:2" and config.origins["lr"] == f"{file}:12"
    assert config.groups["algorithm"].lambd == 0.5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rollout-batch-sise", "8"], "--rollout-batch-sise: no such flag"),
        (["--rollout-batch-sise", "8"], "did you mean --rollout-batch-size"),
        (
            ["--rollout-max-res", "8"],
            "--rollout-max-res: flags are not abbreviated; did you mean --rollout-max-response-len",
        ),
        (["--lr"], "--lr: the value is missing; give number"),
        (["--lr", "fast"], "--lr: 'fast' is not a number"),
        (["--lr", "1", "2"], "--lr: '2' is one value too many"),
        (["--lr", "nan"], "--lr: 'nan' is not finite"),
        (["--lr=-1"], "--lr: -1.0 is less than 0"),
        (["--num-rollout", "1.5"], "--num-rollout: '1.5' is not a whole number"),
        (["--colocate=true"], "--colocate: a switch takes no value"),
        (["--colocate", "true"], "--colocate: 'true' is one value too many"),
        (["--loss-type", "mse"], "--loss-type: 'mse' is none of policy_loss, sft_loss, custom_loss"),
        (["--train-env-vars", "{"], "--train-env-vars: it is not JSON"),
        (["--update-weight-buffer-size", "3 parsecs"], "has no unit of bytes"),
        (["--wandb-key", "***"], "--wandb-key: the secret was masked"),
    ],
)
def test_a_wrong_flag_is_told_with_its_remedy(tmp_path, words, said):
    found = problems([*enough(tmp_path), *words])
    assert len(found) == 1 and said in found[0] and "; " in found[0]


def test_a_word_before_any_flag_is_told():
    assert any(line.startswith("config.yaml: not a flag") for line in problems(["config.yaml", "--lr", "1"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lr: 1\nlr: 2\n", "run.yaml:2: lr is set already, at"),
        ("lr: 1\noptimizer:\n  lr: 2\n", "run.yaml:3: lr is set already, at"),
        (
            "disable_rewards_normalization: true\nrewards_normalization: true\n",
            "run.yaml:2: rewards_normalization is set",
        ),
        ("learning_rate: 1\n", "run.yaml:1: no option of the framework is called learning_rate"),
        ("rolout_temperature: 1\n", "did you mean rollout-temperature"),
        ("rollout: {lr: 1}\n", "run.yaml:1: lr is not in the group rollout; put it under optimizer"),
        ("lr: [1]\n", "run.yaml:1: lr: it takes one value, not a sequence"),
        ("rollout_stop: a\n", "run.yaml:1: rollout_stop: it takes a list; give list of text or null"),
        ("lr: null\n", "run.yaml:1: lr: it cannot be null"),
        ("colocate: 1\n", "run.yaml:1: colocate: '1' is neither true nor false"),
        ("data: [1]\n", "run.yaml:1: data is a group of options"),
        ("optimizer: 1\n", "run.yaml:1: optimizer: '1' is none of adam, sgd"),
        ("lr: {\n", "is not YAML"),
        ("- lr\n", "run.yaml:1: is not a mapping"),
        ("? [a]\n: 1\n", "run.yaml:1: the key is not a name"),
        ("train_env_vars: {A: 1, A: 2}\n", "a key stands twice"),
        ("train_env_vars: &a {A: *a}\n", "nested too deeply"),
        ("lr: !!python/object:os.system 1\nnum_steps: 1\n", "is called num_steps"),
    ],
)
def test_a_wrong_line_is_told_with_its_place(tmp_path, text, said):
    file = tmp_path / "run.yaml"
    file.write_text(text)
    found = problems(enough(tmp_path), file)
    assert any(said in line for line in found), found
    assert all("\n" not in line for line in found)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"\xef\xbb\xbflr: 1e-4\r\n", b"# nothing\n"])
def test_a_file_of_any_bytes_is_read_or_refused(tmp_path, content):
    file = tmp_path / "run.yaml"
    file.write_bytes(content)
    found = problems(enough(tmp_path), file)
    assert bool(found) == (content == b"\xff\xfe")


def test_all_problems_come_at_once_and_a_broken_value_is_told_once(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("eps_clip: much\nnonsense: 1\nkl_coef: 0.1\n")
    words = enough(tmp_path)
    words[words.index("--rollout-batch-size") + 1] = "eight"
    found = problems([*words, "--use-tis", "--tis-clip-low", "3", "--wrong"], file)
    assert len(found) == 6
    for part in (
        "run.yaml:1",
        "run.yaml:2",
        "run.yaml:3",
        "--rollout-batch-size: 'eight'",
        "--wrong",
        "tis_clip_low 3",
    ):
        assert sum(part in line for line in found) == 1, (part, found)


def test_a_list_flag_is_filled_in_one_go_and_an_appending_one_by_repetition(tmp_path):
    words = [
        "--rollout-stop-token-ids",
        "1",
        "-2",
        "--rollout-sample-hook-path",
        "a.b",
        "--rollout-sample-hook-path",
        "c.d",
    ]
    args = made([*enough(tmp_path), *words, "--lr", "1", "--lr", "2"]).args
    assert args.rollout_stop_token_ids == (1, -2) and args.rollout_sample_hook_path == ("a.b", "c.d") and args.lr == 2


JUNK = st.sampled_from(
    ["--", "--=", "--=x", "-", "", "x", "-1", "--lr", "--lr=", "--rollout-stop", "--colocate", "--no-lr", "é", "--é"]
)
FLAGS = st.sampled_from([flag for option in OPTIONS.values() for flag in option.flags + option.off_flags])


@QUIET
@given(words=st.lists(JUNK | FLAGS | TEXT, max_size=8))
def test_whatever_is_typed_is_a_configuration_or_a_list_of_problems(words):
    for line in problems(words):
        assert line.strip() and "\n" not in line


@QUIET
@given(text=st.text(st.sampled_from("ab:-[]{}#&*!|>'\"\n ,?<%@`lr"), max_size=40))
def test_whatever_a_file_holds_it_is_a_configuration_or_a_list_of_problems(tmp_path, text):
    file = tmp_path / "run.yaml"
    file.write_text(text, "utf-8")
    for line in problems([], file):
        assert line.strip() and "\n" not in line
