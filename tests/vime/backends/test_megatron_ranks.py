"""Two tensor-parallel or two data-parallel ranks (gloo) compute what one rank does."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from collections.abc import Iterator

import megatron_ranks as ranks
from megatron_world import FAMILIES, VOCAB, logits, made_args, made_pack, made_state, updated
from transformers import AutoModelForCausalLM

from vime.backends.megatron_utils.checkpoint import load_checkpoint, save_checkpoint
from vime.backends.megatron_utils.model_provider import build_model
from vime.backends.megatron_utils.parallel import init_parallel
from vime.backends.megatron_utils.weights import load_hf


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def alone(folder: Path) -> Iterator[dict]:
    """What one rank sees, and its checkpoints after two updates."""
    ranks.prepare(folder)
    place = init_parallel()
    seen = {}
    for family in FAMILIES:
        model = build_model(made_args(folder / family))
        load_hf(model, folder / family)
        with torch.no_grad():
            seen[family, "logits"] = logits(model[0], made_pack((5, 1, 40)))
    for family in ("qwen3-tied", "qwen2"):
        state = made_state(made_args(folder / family), folder / family)
        seen[family, "updates"] = [updated(state, packs) for packs in ranks.PACKS[: ranks.UPDATES]]
        save_checkpoint(folder / "tp1" / family, ranks.UPDATES, state)
        seen[family, "goes on"] = [updated(state, packs) for packs in ranks.PACKS[ranks.UPDATES :]]
    place.close()
    yield seen


@pytest.fixture(scope="module")
def tensor_parallel(folder: Path, alone: dict) -> dict:
    ranks.run_ranks(ranks.tensor_parallel, 2, 2, folder)
    return torch.load(folder / "seen.pt")


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_over_two_tensor_ranks(family: str, alone: dict, tensor_parallel: dict) -> None:
    assert tensor_parallel[family, "rows"] == 49
    mine = tensor_parallel[family, "logits"][:, :VOCAB]
    assert (mine - alone[family, "logits"]).abs().max() < 1e-5


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_come_back_bit_for_bit_over_two_ranks(family: str, folder: Path, tensor_parallel: dict) -> None:
    there = AutoModelForCausalLM.from_pretrained(folder / family).state_dict()
    exported = tensor_parallel[family, "export"]
    tied = "lm_head.weight" not in exported
    assert tied == ("tied" in family)
    assert set(there) - set(exported) == ({"lm_head.weight"} if tied else set())
    assert all(torch.equal(value, there[name]) for name, value in exported.items())
    saved = AutoModelForCausalLM.from_pretrained(folder / "out" / family).state_dict()
    assert all(torch.equal(value, there[name]) for name, value in saved.items())
    assert len(list((folder / "out" / family).glob("*.safetensors"))) > 2


@pytest.mark.parametrize("family", ["qwen3-tied", "qwen2"])
def test_updates_over_two_tensor_ranks(family: str, alone: dict, tensor_parallel: dict) -> None:
    for what in ("updates", "goes on"):
        for (loss, norm), (loss2, norm2) in zip(alone[family, what], tensor_parallel[family, what]):
            assert loss == pytest.approx(loss2, abs=2e-5)
            assert norm == pytest.approx(norm2, rel=1e-4)


@pytest.mark.parametrize("family", ["qwen3-tied", "qwen2"])
def test_resuming_over_two_tensor_ranks_is_exact(family: str, tensor_parallel: dict) -> None:
    assert tensor_parallel[family, "resumed"] == tensor_parallel[family, "goes on"]


@pytest.mark.parametrize("family", ["qwen3-tied", "qwen2"])
def test_a_checkpoint_of_one_rank_goes_on_over_two_and_back(
    family: str, folder: Path, alone: dict, tensor_parallel: dict
) -> None:
    for (loss, norm), (loss2, norm2) in zip(alone[family, "goes on"], tensor_parallel[family, "resharded"]):
        assert loss == pytest.approx(loss2, abs=2e-5)
        assert norm == pytest.approx(norm2, rel=1e-4)
    place = init_parallel()
    state = made_state(made_args(folder / family), folder / family)
    assert load_checkpoint(folder / "tp2" / family, state) == ranks.UPDATES
    back = [updated(state, packs) for packs in ranks.PACKS[ranks.UPDATES :]]
    place.close()
    for (loss, norm), (loss2, norm2) in zip(back, tensor_parallel[family, "goes on"]):
        assert loss == pytest.approx(loss2, abs=2e-5)
        assert norm == pytest.approx(norm2, rel=1e-4)


def test_updates_over_two_data_ranks(folder: Path, alone: dict) -> None:
    ranks.run_ranks(ranks.data_parallel, 2, 1, folder)
    seen = torch.load(folder / "dp-seen.pt")
    told = alone["qwen3-tied", "updates"] + alone["qwen3-tied", "goes on"]
    assert seen["losses"] == pytest.approx([loss for loss, _ in told], abs=2e-5)
    assert seen["norms"] == pytest.approx([norm for _, norm in told], rel=1e-4)


def test_a_rank_that_cannot_write_is_told_by_all(folder: Path, alone: dict) -> None:
    ranks.run_ranks(ranks.one_fails, 2, 1, folder)
    for rank in (0, 1):
        said = (folder / f"said-{rank}").read_text()
        assert said.startswith("CheckpointError")
        assert "rank 1:" in said
    assert sorted(one.name for one in (folder / "run").iterdir()) == [
        "iter_0000000",
        "latest_checkpointed_iteration.txt",
    ]
