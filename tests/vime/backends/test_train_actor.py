"""A rank that trains, on the real model: what its loss is, and that packing does not matter."""

import itertools
import math
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
    train_args,
    trained,
    weights_of,
    with_engine_log_probs,
)

from vime.utils.train_share import MalformedTrainData

WIDE = ["--logprob-diff-mean-bound", "9", "--logprob-diff-max-bound", "99"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    hf_model("qwen3", folder)
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    """A model of the same shape with weights a little different."""
    folder = tmp_path_factory.mktemp("other")
    reference = hf_model("qwen3", folder)
    with torch.no_grad():
        torch.manual_seed(3)
        for parameter in reference.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    reference.save_pretrained(folder)
    return folder


def shuffled(rollout: Rollout) -> Rollout:
    order = torch.randperm(len(rollout["tokens"]), generator=torch.Generator().manual_seed(5)).tolist()
    return {name: [column[i] for i in order] for name, column in rollout.items()}


@pytest.mark.parametrize("weighting", [[], ["--calculate-per-token-loss"], ["--loss-constant-length", "16"]])
def test_neither_packing_nor_order_changes_an_update(model: Path, weighting: list[str]) -> None:
    fan_out = made_rollout()
    fan_out["rollout_ids"] = [i // 2 if i < 6 else i for i in range(16)]
    words = ["--entropy-coef", "0.1", "--adam-eps", "1e-2", *weighting]
    figures, weights = trained(model, *words, rollout=fan_out)
    for packing, change in (
        (["--max-tokens-per-gpu", "1000"], shuffled),
        (["--max-tokens-per-gpu", "20"], shuffled),
        (["--max-tokens-per-gpu", "30", "--balance-data"], lambda one: one),
    ):
        others, its = trained(model, *words, *packing, rollout=fan_out, change=change)
        for name in figures:
            if name.startswith(("train/", "rollout/")):
                assert others[name] == pytest.approx(figures[name], abs=2e-5, rel=2e-5), name
        assert largest_difference(weights, its) < 1e-4


def test_what_a_loss_divides_by_does_not_change_the_rollouts_figures(model: Path) -> None:
    plain, _ = trained(model, "--save-debug-train-data", "/dev/null")
    fixed, _ = trained(model, "--save-debug-train-data", "/dev/null", "--loss-constant-length", "3")
    assert fixed["train/loss"] != pytest.approx(plain["train/loss"])
    for name in ("rollout/log_probs", "rollout/advantages"):
        assert fixed[name] == pytest.approx(plain[name], abs=1e-6), name


def test_the_loss_is_the_formula_and_its_gradient(model: Path, other: Path) -> None:
    """Against transformers' model in float64 and a loop over samples."""
    words = ["--entropy-coef", "0.05", "--use-kl-loss", "--kl-loss-coef", "0.3", "--kl-loss-type", "k3"]
    rollout = made_rollout(seed=8)
    rollout["rollout_ids"] = [0, 0, 0, *range(1, 14)]
    figures, _ = trained(model, *words, "--load", str(model), "--ref-load", str(other), rollout=rollout)

    from transformers import AutoModelForCausalLM

    policy = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float64)
    reference = AutoModelForCausalLM.from_pretrained(other, dtype=torch.float64)
    totals = {name: torch.zeros((), dtype=torch.float64) for name in ("pg_loss", "entropy_loss", "kl_loss")}
    trained_tokens = dict.fromkeys(rollout["rollout_ids"], 0)
    for one, mask in zip(rollout["rollout_ids"], rollout["loss_masks"]):
        trained_tokens[one] += sum(mask)
    for i, tokens in enumerate(rollout["tokens"]):
        ids, start = torch.tensor([tokens]), len(tokens) - rollout["response_lengths"][i]
        every = torch.log_softmax(policy(ids).logits[0, start - 1 : -1], -1)
        base = torch.log_softmax(reference(ids).logits[0, start - 1 : -1], -1).detach()
        log_prob, ref = (one.gather(1, ids[0, start:, None])[:, 0] for one in (every, base))
        mask = torch.tensor(rollout["loss_masks"][i]) / trained_tokens[rollout["rollout_ids"][i]] / 14
        totals["pg_loss"] += (-(log_prob - log_prob.detach()).exp() * rollout["rewards"][i] * mask).sum()
        totals["entropy_loss"] += (-(every.exp() * every).sum(-1) * mask).sum()
        totals["kl_loss"] += (((ref - log_prob).exp() - 1 - (ref - log_prob)) * mask).sum()
    loss = totals["pg_loss"] - 0.05 * totals["entropy_loss"] + 0.3 * totals["kl_loss"]
    loss.backward()
    norm = math.sqrt(sum(float(parameter.grad.square().sum()) for parameter in policy.parameters()))
    for name, value in {**totals, "loss": loss}.items():
        assert figures[f"train/{name}"] == pytest.approx(value.item(), abs=2e-6), name
    assert figures["train/grad_norm"] == pytest.approx(norm, rel=1e-4)


def test_supervised_loss_is_the_cross_entropy(model: Path) -> None:
    rollout = made_rollout(seed=2)
    with one_actor(train_args(model, "--loss-type", "sft_loss", "--rollout-temperature", "0.5")) as actor:
        figures = actor.train(0, rollout)
        assert "train/train_rollout_logprob_abs_diff" not in figures
    with one_actor(train_args(model)) as actor:
        log_probs = actor.log_probs(rollout["tokens"], rollout["response_lengths"])
    means = [
        sum(value for value, entry in zip(one, mask) if entry) / sum(mask)
        for one, mask in zip(log_probs, rollout["loss_masks"])
    ]
    assert figures["train/loss"] == pytest.approx(-sum(means) / len(means), abs=1e-5)


TWO = ["--global-batch-size", "8", *WIDE]
KL = ["--use-kl-loss", "--kl-loss-coef", "0.5", "--kl-loss-type", "k2"]
EFFECTS = {
    "eps-clip": ([], ["--eps-clip", "0.01"]),
    # An update moves ratios far, so that hardly one is between two narrow bounds.
    "eps-clip-high": (["--eps-clip-high", "9"], ["--eps-clip-high", "0.0001"]),
    "eps-clip-c": (["--eps-clip", "0.9", "--eps-clip-high", "9"], ["--eps-clip-c", "1.01"]),
    "entropy-coef": ([], ["--entropy-coef", "0.1"]),
    "kl-loss-coef": (KL, ["--kl-loss-coef", "0.1"]),
    "kl-loss-type": (KL, ["--kl-loss-type", "k3"]),
    "kl-loss-type k1": (KL, ["--kl-loss-type", "k1"]),
    "use-unbiased-kl": (KL, ["--use-unbiased-kl"]),
    "kl-coef": (["--kl-coef", "0.001"], ["--kl-coef", "1.0"]),
    "use-tis": ([], ["--use-tis"]),
    "tis-clip": (["--use-tis"], ["--tis-clip", "1.001"]),
    "tis-clip-low": (["--use-tis"], ["--tis-clip-low", "0.999"]),
    "custom-tis": (
        ["--use-tis", "--tis-clip", "1.01"],
        ["--custom-tis-function-path", "vime.backends.megatron_utils.loss.icepop_function"],
    ),
    "use-opsm": ([], ["--use-opsm", "--opsm-delta", "0"]),
    "calculate-per-token-loss": ([], ["--calculate-per-token-loss"]),
    "loss-constant-length": ([], ["--loss-constant-length", "7"]),
    "gspo": ([], ["--advantage-estimator", "gspo"]),
    "cispo": ([], ["--advantage-estimator", "cispo"]),
    "normalize-advantages": ([], ["--normalize-advantages"]),
    "reinforce++": (
        ["--normalize-advantages"],
        ["--advantage-estimator", "reinforce_plus_plus", "--gamma", "0.9"],
    ),
    "gamma": (
        ["--normalize-advantages", "--advantage-estimator", "reinforce_plus_plus"],
        ["--gamma", "0.5"],
    ),
    "rollout-temperature": ([], ["--rollout-temperature", "0.7"]),
    "use-rollout-logprobs": ([], ["--use-rollout-logprobs"]),
    "custom-reducer": ([], ["--custom-pg-loss-reducer-function-path", f"{__name__}.half_of_the_sum"]),
    "custom-advantage": ([], ["--custom-advantage-function-path", "train_world.ones"]),
    "custom-loss": (
        [],
        ["--loss-type", "custom_loss", "--custom-loss-function-path", f"{__name__}.mean_logit"],
    ),
    "global-batch-size": ([], ["--global-batch-size", "4"]),
    "optimizer": ([], ["--optimizer", "sgd"]),
    "adam-beta1": ([], ["--adam-beta1", "0.5"]),
    "adam-beta2": ([], ["--adam-beta2", "0.5"]),
    "adam-eps": ([], ["--adam-eps", "0.1"]),
    "weight-decay": ([], ["--weight-decay", "0.5"]),
    "clip-grad": (["--adam-eps", "0.1"], ["--clip-grad", "0.01"]),
    "lr": ([], ["--lr", "1e-3"]),
    "lr-decay-style": ([], ["--lr-decay-style", "linear"]),
    "min-lr": ([], ["--min-lr", "9e-3"]),
    "lr-decay-iters": ([], ["--lr-decay-iters", "3"]),
    "lr-warmup-iters": ([], ["--lr-warmup-iters", "2"]),
    "lr-warmup-fraction": ([], ["--lr-warmup-fraction", "0.5"]),
    "lr-warmup-init": (["--lr-warmup-iters", "2"], ["--lr-warmup-init", "1e-3"]),
    "freeze": ([], ["--freeze-params-name-list", "embedding"]),
    "only-train": ([], ["--only-train-params-name-list", "embedding"]),
}
"""Option -> (what it is set beside, the option)."""


def half_of_the_sum(total_lengths: list, response_lengths: list, loss_masks: list, per_token: bool) -> Callable:
    return lambda values: (values * torch.cat([*loss_masks])).sum() / 2


def mean_logit(args: Any, batch: dict, logits: "torch.Tensor", sum_of_sample_mean: Callable) -> tuple:
    values = logits.reshape(-1, logits.shape[-1]).square().mean(-1)
    loss = sum_of_sample_mean(values[: sum(batch["response_lengths"])])
    return loss, {"loss": loss.detach()}


@pytest.mark.parametrize("option", EFFECTS)
def test_every_option_of_the_algorithm_changes_what_is_learnt(option: str, model: Path, other: Path) -> None:
    beside, words = EFFECTS[option]
    base = [*TWO, *beside]
    if any("kl" in word for word in (*beside, *words)):
        base += ["--load", str(model), "--ref-load", str(other)]

    def noisy(rollout: Rollout) -> Rollout:
        generator = torch.Generator().manual_seed(1)
        off = [(torch.randn(len(one), generator=generator) * 0.05).tolist() for one in rollout["rollout_log_probs"]]
        log_probs = [[a + b for a, b in zip(one, two)] for one, two in zip(rollout["rollout_log_probs"], off)]
        return {**rollout, "rollout_log_probs": log_probs}

    _, without = trained(model, *base, change=noisy)
    figures, having = trained(model, *base, *words, change=noisy)
    assert math.isfinite(figures["train/loss"])
    assert largest_difference(without, having) > 1e-5


def test_the_optimizer_forgets_where_it_is_told_to(model: Path) -> None:
    def twice(*words: str) -> list[Any]:
        with one_actor(train_args(model, *words)) as actor:
            for number in range(2):
                actor.train(number, with_engine_log_probs(actor, made_rollout(seed=number)))
            return weights_of(actor)

    assert largest_difference(twice(), twice("--reset-optimizer-states")) > 1e-4


def test_what_is_trained_on_is_dumped_with_what_was_made_of_it(model: Path, tmp_path: Path) -> None:
    figures, _ = trained(model, "--save-debug-train-data", str(tmp_path / "{rollout_id}" / "data.pt"))
    dump = torch.load(tmp_path / "0" / "data.pt", weights_only=False)
    rollout = made_rollout()
    assert [one["sample_index"] for one in dump["samples"]] == rollout["sample_indices"]
    for sample, tokens, reward in zip(dump["samples"], rollout["tokens"], rollout["rewards"], strict=True):
        assert sample["tokens"].tolist() == tokens
        assert sample["advantages"].tolist() == pytest.approx([reward] * len(sample["log_probs"]))
        assert (sample["log_probs"] - sample["rollout_log_probs"]).abs().max() < 1e-5
    assert figures["train/train_rollout_logprob_abs_diff"] < 1e-5


def in_a_nucleus(rollout: Rollout) -> Rollout:
    """Half of the words for each token, the token itself among them."""
    chance = torch.Generator().manual_seed(2)
    ids, offsets = [], []
    for tokens, length in zip(rollout["tokens"], rollout["response_lengths"]):
        sets = [
            sorted({token, *torch.randperm(97, generator=chance)[:48].tolist()})
            for token in tokens[len(tokens) - length :]
        ]
        ids.append([word for one in sets for word in one])
        offsets.append([0, *itertools.accumulate(len(one) for one in sets)])
    return {**rollout, "rollout_top_p_token_ids": ids, "rollout_top_p_token_offsets": offsets}


@pytest.mark.parametrize("updates", [[], ["--global-batch-size", "8"]])
def test_logprobs_are_those_of_the_nucleus_that_was_sampled_from(model: Path, updates: list[str]) -> None:
    """The engine's, of transformers' model over the kept words; both passes of the trainer agree with them."""
    from transformers import AutoModelForCausalLM

    policy = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    rollout, words = in_a_nucleus(made_rollout()), ["--rollout-top-p", "0.9", "--debug-train-only", *updates]
    rollout["rollout_log_probs"] = []
    for i, tokens in enumerate(rollout["tokens"]):
        start, bounds = len(tokens) - rollout["response_lengths"][i], rollout["rollout_top_p_token_offsets"][i]
        logits = policy(torch.tensor([tokens])).logits[0, start - 1 : -1].detach()
        kept = [rollout["rollout_top_p_token_ids"][i][a:b] for a, b in itertools.pairwise(bounds)]
        rollout["rollout_log_probs"].append(
            [float(row[word] - row[own].logsumexp(0)) for row, own, word in zip(logits, kept, tokens[start:])]
        )
    with one_actor(train_args(model, *words)) as actor:
        figures = actor.train(0, rollout)
        assert figures["train/train_rollout_logprob_abs_diff_max"] < 1e-5
        assert figures["train/grad_norm"] > 0.1
        del rollout["rollout_top_p_token_ids"]
        with pytest.raises(MalformedTrainData, match="the words that --rollout-top-p kept are missing"):
            actor.train(1, rollout)


def test_one_update_needs_no_pass_before_it_and_several_do(model: Path) -> None:
    single, _ = trained(model)
    assert "perf/log_probs_time" not in single and single["train/ppo_kl"] == 0
    several, _ = trained(model, "--global-batch-size", "4")
    assert "perf/log_probs_time" in several and several["train/ppo_kl"] != 0


def test_a_critic_is_refused(model: Path) -> None:
    from vime.backends.megatron_utils.actor import MegatronTrainRayActor

    with pytest.raises(NotImplementedError, match="critic"):
        MegatronTrainRayActor().init(train_args(model), role="critic")
