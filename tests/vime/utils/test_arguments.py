"""Upstream's argument module: its functions on top of the configuration."""

import argparse
import copy
import pickle
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "config"))
from config_world import enough

from vime.config.args import Frozen
from vime.config.problems import ConfigError
from vime.utils.arguments import (
    get_vime_extra_args_provider,
    parse_args,
    parse_megatron_role_args,
    reset_arg,
    vime_validate_args,
)


@pytest.fixture
def argv(tmp_path, monkeypatch):
    def use(*words: str):
        monkeypatch.setattr(sys, "argv", ["train.py", *enough(tmp_path), *words])

    use()
    return use


def test_the_arguments_are_those_of_the_process_and_frozen(argv):
    argv("--n-samples-per-prompt", "2", "--disable-rewards-normalization")
    args = parse_args()
    assert (args.n_samples_per_prompt, args.rewards_normalization, args.global_batch_size) == (2, False, 16)
    assert args.num_layers == 2 and "lr" in args and not hasattr(args, "nonsense")
    with pytest.raises(Frozen, match=r"args.lr cannot be set"):
        args.lr = 2
    with pytest.raises(Frozen):
        del args.lr
    assert vime_validate_args(args) is None


def test_copies_are_equal_and_replacing_leaves_the_original(argv):
    args = parse_args()
    for other in (pickle.loads(pickle.dumps(args)), copy.copy(args), copy.deepcopy(args)):
        assert other == args and type(other) is type(args) and vars(other) == vars(args)
    assert args.replace(lr=2.0).lr == 2.0 and args.lr == 1e-6


def test_what_is_wrong_ends_the_process_with_all_of_it(argv, capsys):
    argv("--lr", "x", "--nonsense", "1")
    with pytest.raises(SystemExit) as stop:
        parse_args()
    said = capsys.readouterr().err
    assert stop.value.code == 2 and said.count("error: ") == 2 and "--lr: 'x'" in said


def test_flags_of_ones_own(argv):
    def add(parser):
        parser.add_argument("--my-weight", type=float, default=0.5, help="Mine.")
        parser.add_argument("--my-names", nargs="+")
        parser.add_argument("--lr", type=float, default=7.0)
        parser.add_argument("--my-switch", action="store_true")
        return parser

    argv("--my-weight", "2", "--my-switch")
    args = parse_args(add)
    assert (args.my_weight, args.my_names, args.my_switch, args.lr) == (2.0, None, True, 1e-6)


def test_a_provider_fills_a_parser_that_is_not_ours():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--lr", type=float, default=3.0)
    get_vime_extra_args_provider(lambda parser: parser.add_argument("--mine"))(parser)
    words = ["--eps-clip", "0.3", "--disable-rewards-normalization", "--rollout-stop", "a", "b", "--mine", "x"]
    args = parser.parse_args(words)
    assert (args.eps_clip, args.rewards_normalization, args.rollout_stop, args.lr) == (0.3, False, ["a", "b"], 3.0)
    reset_arg(parser, "--lr", type=float, default=5.0)
    reset_arg(parser, "--new", type=int, default=1)
    assert parser.parse_args([]).lr == 5.0 and parser.parse_args([]).new == 1


def test_a_role_has_its_overrides(argv, tmp_path):
    file = tmp_path / "roles.yaml"
    file.write_text(
        "megatron:\n- {name: a, role: critic, overrides: {lr: 1e-5, num_nodes: 4, my-own: [1]}}\n- {name: b, role: actor}\n"
    )
    base = parse_args()
    critic = parse_megatron_role_args(base, str(file), "critic")
    assert (critic.lr, critic.my_own, critic.kl_coef, "num_nodes" in critic) == (1e-5, [1], 0.0, False)
    assert parse_megatron_role_args(base, str(file), "actor") == base
    for text, said in (("a: 1\n", "there is no list"), ("megatron: [{role: actor}, {role: actor}]\n", "has 2 entries")):
        file.write_text(text)
        with pytest.raises(ConfigError, match=said):
            parse_megatron_role_args(base, str(file), "actor")
