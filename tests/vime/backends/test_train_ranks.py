"""Two ranks, tensor- or data-parallel, train as one does: real processes over gloo."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from megatron_world import hf_model
from train_world import largest_difference, made_rollout, train_args, train_on_ranks

LAYOUTS = {
    "tensor": ["--actor-num-gpus-per-node", "2", "--tensor-model-parallel-size", "2"],
    "data": ["--actor-num-gpus-per-node", "2"],
}
OPTIONS = ["--adam-eps", "1e-3", "--entropy-coef", "0.01", "--global-batch-size", "8", "--use-tis", "--lr", "1e-3"]
SAME = ("train/loss", "train/pg_loss", "train/entropy_loss", "train/ppo_kl", "train/pg_clipfrac", "train/tis")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple:
    folder = tmp_path_factory.mktemp("alone")
    hf_model("qwen3", folder / "model")
    args = train_args(folder / "model", *OPTIONS)
    return folder / "model", train_on_ranks(args, ROLLOUTS, 1, folder / "out")


ROLLOUTS = [made_rollout(seed=3), made_rollout(seed=4)]


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_ranks_train_as_one_does(layout: str, alone: tuple, tmp_path: Path) -> None:
    folder, (figures, weights) = alone
    args = train_args(folder, *OPTIONS, *LAYOUTS[layout])
    of_ranks, of_both = train_on_ranks(args, ROLLOUTS, 2, tmp_path / "out")
    assert len(of_ranks) == 2
    for rank in of_ranks:
        for mine, theirs in zip(figures[0], rank, strict=True):
            for name in SAME:
                assert theirs[name] == pytest.approx(mine[name], abs=1e-4), name
            assert theirs["train/grad_norm"] == pytest.approx(mine["train/grad_norm"], rel=1e-4)
            assert {name for name in theirs if name.startswith("rollout/")} == {
                name for name in mine if name.startswith("rollout/")
            }
            for name in mine:
                if name.startswith("rollout/"):
                    assert theirs[name] == pytest.approx(mine[name], abs=1e-4), name
    names = sorted(weights)
    assert names == sorted(of_both)
    assert largest_difference([weights[name] for name in names], [of_both[name] for name in names]) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("weighting", [[], ["--calculate-per-token-loss"]])
def test_ranks_with_different_numbers_of_micro_batches_train_as_one_does(
    weighting: list[str], alone: tuple, tmp_path: Path
) -> None:
    """Each sample stands alone, and 15 do not divide by 2."""
    words = ["--max-tokens-per-gpu", "2", "--entropy-coef", "0.01", "--adam-eps", "1e-2", *weighting]
    rollouts = [made_rollout(count=15, seed=9)]
    (one, *_), weights = train_on_ranks(train_args(alone[0], *words), rollouts, 1, tmp_path / "one")
    two, of_both = train_on_ranks(train_args(alone[0], *words, *LAYOUTS["data"]), rollouts, 2, tmp_path / "two")
    for rank in two:
        for name in ("train/loss", "train/entropy_loss", "train/grad_norm"):
            assert rank[0][name] == pytest.approx(one[0][name], abs=1e-4), name
    assert largest_difference([weights[name] for name in weights], [of_both[name] for name in weights]) < 1e-4
