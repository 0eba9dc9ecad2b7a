"""A rank that trains, on the real model: what it refuses to learn from, and what changes nothing."""

import math
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from megatron_world import hf_model
from train_world import (
    Rollout,
    largest_difference,
    made_rollout,
    one_actor,
    ones,
    train_args,
    trained,
    weights_of,
    with_engine_log_probs,
)

from vime.backends.megatron_utils.agreement import measure_agreement
from vime.backends.megatron_utils.checkpoint import TrainState
from vime.backends.megatron_utils.train_step import NonFiniteUpdate, Update, apply_update
from vime.learning.agreement import EngineDisagrees
from vime.utils.train_share import MalformedTrainData


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    hf_model("qwen3", folder)
    return folder


def test_what_stands_at_masked_tokens_has_no_effect(model: Path) -> None:
    def spoilt(rollout: Rollout) -> Rollout:
        log_probs = [
            [value if entry else math.nan for value, entry in zip(one, mask)]
            for one, mask in zip(rollout["rollout_log_probs"], rollout["loss_masks"])
        ]
        return {**rollout, "rollout_log_probs": log_probs}

    words = ["--use-tis", "--normalize-advantages", "--use-opsm", "--advantage-estimator", "gspo"]
    (clean, weights), (figures, its) = trained(model, *words), trained(model, *words, change=spoilt)
    assert largest_difference(weights, its) == 0
    assert {k: v for k, v in clean.items() if "perf" not in k} == {k: v for k, v in figures.items() if "perf" not in k}


@pytest.mark.parametrize("updates", [[], ["--global-batch-size", "8"]])
def test_an_engine_that_disagrees_is_caught_before_anything_is_learnt(model: Path, updates: list[str]) -> None:
    with one_actor(train_args(model, *updates)) as actor:
        data = with_engine_log_probs(actor, made_rollout())
        data["rollout_log_probs"][3][0] += 0.01
        before = weights_of(actor)
        with pytest.raises(EngineDisagrees, match=r"rollout 7: .* 0\.01 at most, in sample 103 .*weight sync"):
            actor.train(7, data)
        assert largest_difference(before, weights_of(actor)) == 0
        assert actor.trainer.scheduler.num_steps == 0
        figures = actor.train(7, with_engine_log_probs(actor, made_rollout()))
        assert figures["train/train_rollout_logprob_abs_diff"] < 1e-6


def test_a_sync_left_out_is_caught_at_once(model: Path) -> None:
    with one_actor(train_args(model)) as actor:
        data = with_engine_log_probs(actor, made_rollout())
        actor.train(0, data)
        with pytest.raises(EngineDisagrees):
            actor.train(1, data)


def test_without_engines_nothing_needs_to_agree(model: Path) -> None:
    def apart(rollout: Rollout) -> Rollout:
        return {**rollout, "rollout_log_probs": [[value - 1 for value in one] for one in rollout["rollout_log_probs"]]}

    figures, _ = trained(model, "--debug-train-only", change=apart)
    assert figures["train/train_rollout_logprob_abs_diff"] == pytest.approx(1, abs=1e-5)
    assert figures["train/train_rollout_logprob_abs_diff_max"] == pytest.approx(1, abs=1e-5)


SPOILT: dict[str, tuple[Callable[[Rollout], Any], str]] = {
    "missing": (lambda r: r.pop("rollout_log_probs"), "rollout_log_probs.*missing"),
    "one missing": (lambda r: r["rollout_log_probs"].__setitem__(2, None), "sample 102 .*rollout_log_probs has none"),
    "too short": (lambda r: r["rollout_log_probs"][2].pop(), "sample 102 .*rollout_log_probs has"),
    "not a number": (
        lambda r: r["rollout_log_probs"][4].__setitem__(0, math.nan),
        "sample 104 .*nan at response token 0",
    ),
    "all zero": (lambda r: r.update(rollout_log_probs=[[0.0] * n for n in r["response_lengths"]]), "sample 1.*are 0"),
    "one all zero": (
        lambda r: r["rollout_log_probs"].__setitem__(6, [0.0] * r["response_lengths"][6]),
        "sample 106: the engine's logprobs of all its trained tokens are 0",
    ),
    "reward": (lambda r: r["rewards"].__setitem__(1, math.inf), "sample 101 .*reward is inf"),
    "mask": (lambda r: r["loss_masks"][1].append(1), "sample 101 .*loss_masks"),
    "no prompt": (lambda r: r["response_lengths"].__setitem__(0, len(r["tokens"][0])), "sample 100 .*prompt"),
    "column": (lambda r: r["truncated"].pop(), "'truncated' has 15 entries for 16"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_malformed_data_is_refused_by_name(what: str, model: Path) -> None:
    spoil, message = SPOILT[what]
    with one_actor(train_args(model)) as actor:
        data = with_engine_log_probs(actor, made_rollout())
        spoil(data)
        with pytest.raises(MalformedTrainData, match=message):
            actor.train(0, data)


def test_logprobs_that_rounding_made_0_are_no_error_where_the_trainer_is_certain_too(model: Path) -> None:
    share = {"response_lengths": [3, 2], "sample_indices": [7, 8], "loss_masks": [torch.ones(3), torch.ones(2)]}
    share["rollout_log_probs"] = [torch.zeros(3), torch.tensor([-1.0, 0.0])]
    with one_actor(train_args(model)):
        found = [
            measure_agreement(share, {0: torch.full((3,), own), 1: torch.tensor([-1.0, 0.0])}) for own in (-1e-7, -0.1)
        ]
    assert [one.filled_in for one in found] == [None, "sample 7"]
    assert found[0].max < 1e-6 and found[1].worst_sample == "sample 7"


def poison(args: Any, rollout_data: dict) -> None:
    ones(args, rollout_data)
    rollout_data["advantages"][rollout_data["sample_indices"].index(105)][0] = math.nan


def test_a_loss_that_is_not_finite_changes_nothing_and_names_samples(model: Path) -> None:
    words = ["--custom-advantage-function-path", f"{__name__}.poison", "--max-tokens-per-gpu", "8"]
    for policy in ("error", "skip"):
        with one_actor(train_args(model, *words, "--nonfinite-update", policy)) as actor:
            before, data = weights_of(actor), with_engine_log_probs(actor, made_rollout())
            if policy == "error":
                with pytest.raises(NonFiniteUpdate, match="sample 105;"):
                    actor.train(0, data)
            else:
                assert actor.train(0, data)["train/skipped"] == 1
            assert largest_difference(before, weights_of(actor)) == 0


def test_a_gradient_that_is_not_finite_changes_nothing(model: Path) -> None:
    data = made_rollout()
    data["rewards"][0] = 3e37
    with one_actor(train_args(model)) as actor:
        before = weights_of(actor)
        with pytest.raises(NonFiniteUpdate, match="gradient"):
            actor.train(0, with_engine_log_probs(actor, data))
        assert largest_difference(before, weights_of(actor)) == 0


@pytest.mark.parametrize(("dtype", "fails"), [("float16", False), ("bfloat16", True)])
def test_an_overflow_of_float16_only_lowers_the_scale(dtype: str, fails: bool) -> None:
    class Optimizer:
        zero_grad = staticmethod(lambda: None)
        step = staticmethod(lambda: (False, math.nan, None))

    args = Namespace(dtype=dtype, nonfinite_update="error")
    trainer, update = TrainState([], Optimizer(), None), Update(0, (), 1, 1)
    if fails:
        with pytest.raises(NonFiniteUpdate):
            apply_update(args, trainer, update)
    else:
        assert apply_update(args, trainer, update)[0] is False
