"""What a rank that trains keeps from step to step: reference, checkpoint, versions, and the engines' weights."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from megatron_world import hf_model
from safetensors.torch import load_file
from train_world import (
    largest_difference,
    made_rollout,
    one_actor,
    train_args,
    weights_of,
    with_engine_log_probs,
)

from vime.backends.megatron_utils.actor import MegatronTrainRayActor
from vime.learning.agreement import EngineDisagrees


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    hf_model("qwen3-tied", folder)
    return folder


def run(actor: MegatronTrainRayActor, *rollout_ids: int) -> list[dict[str, float]]:
    """Train on a rollout of each number, whose samples are its own."""
    return [actor.train(i, with_engine_log_probs(actor, made_rollout(seed=i))) for i in rollout_ids]


def steady(figures: dict[str, float]) -> dict[str, float]:
    """Without times."""
    return {name: value for name, value in figures.items() if not name.startswith("perf/")}


KL = ["--use-kl-loss", "--kl-loss-coef", "0.1"]


def test_the_reference_stays_and_the_actor_comes_back(model: Path) -> None:
    with one_actor(train_args(model, *KL, "--ref-load", str(model))) as actor:
        first = weights_of(actor)
        one, two = run(actor, 0, 1)
        assert one["rollout/ref_log_probs"] == pytest.approx(one["rollout/log_probs"], abs=1e-6)
        assert one["train/kl_loss"] == pytest.approx(0, abs=1e-6)
        assert abs(two["rollout/ref_log_probs"] - two["rollout/log_probs"]) > 1e-3
        assert "perf/ref_log_probs_time" in two
        assert largest_difference(first, weights_of(actor)) > 1e-3


def test_the_reference_becomes_the_actor_at_its_interval(model: Path) -> None:
    with one_actor(train_args(model, *KL, "--ref-load", str(model), "--ref-update-interval", "2")) as actor:
        _, two, three = run(actor, 0, 1, 2)
        assert abs(two["rollout/ref_log_probs"] - two["rollout/log_probs"]) > 1e-3
        assert three["rollout/ref_log_probs"] == pytest.approx(three["rollout/log_probs"], abs=1e-6)


def test_no_reference_is_loaded_where_none_counts(model: Path, tmp_path: Path) -> None:
    with one_actor(train_args(model, "--load", str(model), "--ref-load", str(tmp_path / "nowhere"))) as actor:
        assert actor.weight_sets.backup_tags == []


def test_a_run_that_resumes_goes_on_exactly(model: Path, tmp_path: Path) -> None:
    words = ["--save", str(tmp_path / "saved"), "--load", str(tmp_path / "saved")]
    with one_actor(train_args(model, *words)) as actor:
        run(actor, 0, 1)
        beside: list[Path] = []
        actor.save_model(1, beside.append)
        assert beside
        whole = run(actor, 2, 3)
        weights = weights_of(actor)
    resumed = MegatronTrainRayActor()
    assert resumed.init(train_args(model, *words)) == 2
    assert resumed.weight_version == 2
    assert [steady(one) for one in run(resumed, 2, 3)] == [steady(one) for one in whole]
    assert largest_difference(weights, weights_of(resumed)) == 0
    resumed.close()


def test_a_run_that_begins_from_another_ones_weights_begins_at_0(model: Path, tmp_path: Path) -> None:
    """Named with --finetune, or as the reference alone; neither its step size nor what its optimizer remembers go on."""
    saved = str(tmp_path / "saved")
    with one_actor(train_args(model, "--save", saved)) as actor:
        run(actor, 0, 1)
        actor.save_model(1)
        weights, rate = weights_of(actor), actor.trainer.optimizer.param_groups[0]["lr"]
    for words in (["--load", saved, "--finetune"], [*KL, "--ref-load", saved]):
        actor = MegatronTrainRayActor()
        assert actor.init(train_args(model, *words)) == 0
        assert largest_difference(weights, weights_of(actor)) == 0
        assert actor.trainer.scheduler.num_steps == 0 and actor.trainer.optimizer.param_groups[0]["lr"] > rate
        assert not any(part.optimizer.state for part in actor.trainer.optimizer.parts)
        actor.close()


class FakeSync:
    """Takes what it is sent; fails when told to."""

    bucket_bytes = 1 << 16

    def __init__(self, urls: list[str]) -> None:
        self.urls, self.taken, self.versions, self.state = urls, {}, [], "new"
        self.fails: Exception | None = None

    def connect(self) -> None:
        self.state = "connected"

    def update(self, tensors: Iterable[tuple[str, Any]], plan: Any, version: str) -> str:
        if self.fails:
            raise self.fails
        self.taken = {name: tensor.clone() for name, tensor in tensors}
        assert [meta.name for meta in plan.tensors] == list(self.taken)
        self.versions.append(version)
        return f"report {version}"

    def close(self) -> None:
        self.state = "closed"


def test_weights_reach_the_engines_and_a_version_counts_only_then(model: Path, tmp_path: Path) -> None:
    made: list[FakeSync] = []

    def make(args: Any, urls: list[str]) -> FakeSync:
        made.append(FakeSync(urls))
        return made[-1]

    actor = MegatronTrainRayActor(make_sync=make)
    actor.init(train_args(model))
    actor.set_rollout_engines(["http://a", "http://b"])
    assert actor.update_weights() == "report 1"
    run(actor, 0)
    assert actor.update_weights() == "report 2"
    (sync,) = made
    assert sync.urls == ["http://a", "http://b"] and sync.state == "connected"
    actor.save_hf(tmp_path / "hf")
    saved = load_file(tmp_path / "hf" / "model.safetensors") if (tmp_path / "hf" / "model.safetensors").exists() else {}
    for file in (tmp_path / "hf").glob("*.safetensors"):
        saved |= load_file(file)
    assert sorted(saved) == sorted(sync.taken)
    assert all(torch.equal(saved[name], sync.taken[name]) for name in saved)
    sync.fails = RuntimeError("engine b is gone")
    with pytest.raises(RuntimeError, match="engine b"):
        actor.update_weights()
    assert actor.weight_version == 2 and sync.versions == ["1", "2"]
    actor.set_rollout_engines(["http://c"])
    assert sync.state == "closed" and len(made) == 2
    actor.close()


def test_samples_of_older_weights_need_not_agree_but_those_of_the_last_must(model: Path) -> None:
    actor = MegatronTrainRayActor(make_sync=lambda args, urls: FakeSync(urls))
    actor.init(train_args(model))
    actor.set_rollout_engines(["http://a"])
    actor.update_weights()
    data = with_engine_log_probs(actor, made_rollout())
    data["weight_versions"] = [["0", "1"] if i == 3 else ["1"] for i in range(16)]
    data["rollout_log_probs"][3][0] -= 0.5
    figures = actor.train(0, data)
    assert figures["train/train_rollout_logprob_abs_diff_max"] == pytest.approx(0.5, abs=1e-4)
    actor.update_weights()
    data = with_engine_log_probs(actor, made_rollout())
    data["weight_versions"] = [["2"]] * 16
    data["rollout_log_probs"][3][0] -= 0.5
    with pytest.raises(EngineDisagrees, match="sample 103"):
        actor.train(1, data)
    actor.close()


@pytest.mark.parametrize(("words", "refused"), [([], True), (["--partial-rollout"], False)])
def test_a_rollout_of_older_weights_alone_is_refused_unless_samples_may_wait(
    model: Path, words: list[str], refused: bool
) -> None:
    actor = MegatronTrainRayActor(make_sync=lambda args, urls: FakeSync(urls))
    actor.init(train_args(model, *words))
    actor.set_rollout_engines(["http://a"])
    actor.update_weights()
    data = with_engine_log_probs(actor, made_rollout())
    data["weight_versions"] = [["0"]] * 16
    if refused:
        before = weights_of(actor)
        with pytest.raises(EngineDisagrees, match="rollout 5: no sample is of weight version 1"):
            actor.train(5, data)
        assert largest_difference(before, weights_of(actor)) == 0
    else:
        actor.train(5, data)
    actor.close()


def test_a_rollout_that_was_made_ahead_is_of_the_version_before_and_not_of_older_ones(model: Path) -> None:
    actor = MegatronTrainRayActor(make_sync=lambda args, urls: FakeSync(urls))
    actor.init(train_args(model, "--train-async"))
    actor.set_rollout_engines(["http://a"])
    actor.update_weights()
    data = with_engine_log_probs(actor, made_rollout())

    def train(rollout_id: int, version: str) -> None:
        actor.train(rollout_id, data | {"weight_versions": [[version]] * 16})
        actor.update_weights()

    train(0, "1")
    data["rollout_log_probs"][3][0] -= 0.5  # as far apart as an update may bring them
    train(1, "1")
    actor.update_weights()  # engines that were started again: the same weights, under their version
    train(2, "2")
    train(3, "of before the run was resumed")
    with pytest.raises(EngineDisagrees, match=r"no sample is of weight version 5.*nor of the one before"):
        train(4, "2")
    actor.close()


def test_a_version_never_stands_for_two_sets_of_weights_also_after_a_resume(model: Path, tmp_path: Path) -> None:
    words = ["--save", str(tmp_path)]
    actor = MegatronTrainRayActor(make_sync=lambda args, urls: FakeSync(urls))
    actor.init(train_args(model, *words))
    actor.set_rollout_engines(["http://a"])
    for _ in range(3):  # as where an evaluation, or the start of a run, brought a version of its own
        actor.update_weights()
        data = made_rollout() | {"weight_versions": [[str(actor.weight_version)]] * 16}
        actor.train(0, with_engine_log_probs(actor, data))
    actor.save_model(0)
    actor.close()
    resumed = MegatronTrainRayActor()
    assert resumed.init(train_args(model, *words, "--load", str(tmp_path))) == 1
    assert resumed.weight_version == 3
    resumed.close()


def test_the_same_weights_keep_their_version(model: Path) -> None:
    """Engines that were started again get it once more: samples that wait to be trained on are no older for it."""
    syncs: list[FakeSync] = []
    actor = MegatronTrainRayActor(make_sync=lambda args, urls: syncs.append(FakeSync(urls)) or syncs[-1])
    actor.init(train_args(model))
    actor.set_rollout_engines(["http://a"])
    actor.update_weights()
    actor.set_rollout_engines(["http://a"])
    actor.update_weights()
    assert actor.weight_version == 1
    run(actor, 0)
    syncs[-1].fails = RuntimeError("engine a is gone")
    with pytest.raises(RuntimeError, match="engine a"):
        actor.update_weights()
    actor.set_rollout_engines(["http://a"])
    actor.update_weights()
    actor.update_weights()
    assert actor.weight_version == 2
    assert [sync.versions for sync in syncs] == [["1"], ["1"], ["2", "2"]]
    actor.close()


def keep_log_probs(args: Any, rollout_id: int, rollout_data: dict) -> None:
    assert rollout_id == 4 and len(rollout_data["log_probs"]) == len(rollout_data["advantages"]) == 16
    rollout_data["advantages"] = [one * 0 for one in rollout_data["advantages"]]


def before_update(args: Any, rollout_id: int, step_id: int, model: Any, optimizer: Any, scheduler: Any) -> None:
    optimizer.param_groups[0]["lr"] = 0.0


def test_hooks_see_and_change_what_is_trained_on(model: Path) -> None:
    hooks = ["--rollout-data-postprocess-path", f"{__name__}.keep_log_probs"]
    hooks += ["--custom-megatron-before-train-step-hook-path", f"{__name__}.before_update"]
    with one_actor(train_args(model, *hooks)) as actor:
        before = weights_of(actor)
        figures = actor.train(4, with_engine_log_probs(actor, made_rollout()))
        assert figures["train/loss"] == 0 and figures["train/lr-pg_0"] == 0
        assert largest_difference(before, weights_of(actor)) == 0


def test_each_update_has_its_figures(model: Path) -> None:
    with one_actor(train_args(model, "--global-batch-size", "4")) as actor:
        (figures,) = run(actor, 0)
        steps = actor.step_metrics()
        assert len(steps) == 4
        assert figures["train/loss"] == pytest.approx(sum(one["train/loss"] for one in steps) / 4)
        assert steps[0]["train/ppo_kl"] == pytest.approx(0, abs=1e-6) and abs(steps[3]["train/ppo_kl"]) > 1e-4
        assert all(math.isfinite(value) for value in figures.values())
        names = {
            "train/loss",
            "train/pg_loss",
            "train/pg_clipfrac",
            "train/ppo_kl",
            "train/entropy_loss",
            "train/grad_norm",
        }
        names |= {"train/lr-pg_0", "train/train_rollout_logprob_abs_diff", "train/train_rollout_logprob_abs_diff_max"}
        names |= {"rollout/log_probs", "rollout/rollout_log_probs", "rollout/advantages", "rollout/returns"}
        names |= {"perf/actor_train_time", "perf/log_probs_time", "perf/actor_train_tok_per_s", "rollout/raw_reward"}
        assert names <= set(figures)


def test_a_rank_joins_with_the_device_and_the_place_it_was_given(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def joined(*ranks: int, **more: Any) -> None:
        asked.update(more, ranks=ranks)
        raise InterruptedError

    monkeypatch.setattr("vime.backends.megatron_utils.actor.init_parallel", joined)
    with pytest.raises(InterruptedError):
        MegatronTrainRayActor(4, 2, "host", 7, local_rank=1).init(train_args(model).replace(device="cuda"))
    assert (asked["ranks"], asked["local_rank"], asked["master"]) == ((2, 4), 1, "host:7")
    assert asked["device"].kind == "cuda"
