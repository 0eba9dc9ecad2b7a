"""Updates: what torch's own AdamW makes of the same gradients, with clipping, and a schedule counted in samples."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from collections.abc import Iterator

from megatron_world import gradients, hf_model, made_args, made_pack, made_state, updated

from vime.backends.megatron_utils.model_provider import build_model, data_parallel
from vime.backends.megatron_utils.optimizer import build_optimizer, build_scheduler
from vime.backends.megatron_utils.parallel import init_parallel


@pytest.fixture(autouse=True)
def one_rank() -> Iterator[None]:
    place = init_parallel()
    yield
    place.close()


PACK = made_pack((8, 5, 11))


@pytest.mark.parametrize("clip", ["0.5", "0"])
def test_an_update_is_adamw_on_clipped_gradients(clip: str, tmp_path: Path) -> None:
    reference = hf_model("llama", tmp_path)
    words = ("--clip-grad", clip, "--weight-decay", "0.1", "--adam-beta2", "0.95")
    state = made_state(made_args(tmp_path, *words), tmp_path)
    plain = [one for name, one in reference.named_parameters() if one.dim() == 1]
    matrices = [one for name, one in reference.named_parameters() if one.dim() > 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    theirs = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95), eps=1e-8)
    for _ in range(3):
        rate = state.optimizer.param_groups[0]["lr"]
        loss, norm = updated(state, [PACK])
        for group in theirs.param_groups:
            group["lr"] = rate
        theirs.zero_grad()
        out = torch.cat([reference(one).logits[0] for one in PACK.sequences()])
        torch.nn.functional.cross_entropy(out, PACK.tokens[0]).backward()
        longest = float(clip) or float("inf")
        expected = torch.nn.utils.clip_grad_norm_(reference.parameters(), longest)
        theirs.step()
        assert norm == pytest.approx(expected.item(), rel=1e-4)
    mine = dict(state.model[0].module.named_parameters())
    assert norm > 0.5
    assert loss < 4.5
    down = reference.model.layers[1].mlp.down_proj.weight
    assert (mine["decoder.layers.1.mlp.linear_fc2.weight"] - down).abs().max() < 1e-4
    assert (mine["decoder.final_layernorm.weight"] - reference.model.norm.weight).abs().max() < 1e-4


def test_bfloat16_keeps_what_its_bits_cannot(tmp_path: Path) -> None:
    """Updates far below the spacing of bfloat16 add up in the master weights."""
    hf_model("llama", tmp_path)
    state = made_state(made_args(tmp_path, "--dtype", "bfloat16", "--lr", "1e-6", "--weight-decay", "0"), tmp_path)
    (master, *_) = [one for one in state.optimizer.masters if one.parameter.dim() > 1]
    before, seen = master.weights.detach().clone(), master.parameter.detach().clone()
    for _ in range(5):
        updated(state, [PACK])
    moved = (master.weights - before).abs()
    assert 3e-6 < moved.max() < 6e-6
    assert torch.equal(master.parameter, master.weights.bfloat16())
    assert torch.equal(master.parameter, seen) or (master.parameter != seen).float().mean() < 0.01
    with torch.no_grad():
        master.parameter.add_(1.0)
    state.optimizer.reload_model_params()
    assert torch.equal(master.weights, master.parameter.float())


def test_a_gradient_that_is_not_finite_changes_nothing(tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    state = made_state(made_args(tmp_path), tmp_path)
    before = [one.detach().clone() for one in state.model[0].parameters()]
    gradients(state, [PACK])
    next(state.model[0].parameters()).main_grad[0, 0] = float("nan")
    made, norm, _ = state.optimizer.step()
    assert not made
    assert norm != norm
    assert all(torch.equal(one, other) for one, other in zip(before, state.model[0].parameters()))


def test_forgetting_the_state_makes_the_next_update_a_first_one(tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    state = made_state(made_args(tmp_path, "--lr-decay-style", "constant", "--weight-decay", "0"), tmp_path)
    for _ in range(2):
        updated(state, [PACK])
    state.optimizer.reset_state()
    before = [one.detach().clone() for one in state.model[0].parameters()]
    gradients(state, [PACK])
    state.optimizer.step()
    # the first update of Adam moves each weight by the step size, whatever the gradient's size
    moved = torch.cat([(one - other).flatten() for one, other in zip(before, state.model[0].parameters())]).abs()
    assert moved.max() < 1.001e-2
    assert (moved > 0.99e-2).float().mean() > 0.8


LAST = {"decoder.layers.1.mlp.linear_fc1.weight", "decoder.layers.1.mlp.linear_fc2.weight"}


@pytest.mark.parametrize(
    ("words", "trained"),
    [
        (("--only-train-params-name-list", r"layers\.1\.mlp"), LAST),
        (("--freeze-params-name-list", "embedding", "layernorm", "attention", "output", r"layers\.0"), LAST),
    ],
)
def test_only_what_is_asked_for_is_trained(words: tuple[str, ...], trained: set[str], tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    state = made_state(made_args(tmp_path, *words), tmp_path)
    before = {name: one.detach().clone() for name, one in state.model[0].module.named_parameters()}
    updated(state, [PACK])
    now = dict(state.model[0].module.named_parameters())
    assert {name for name in now if not torch.equal(now[name], before[name])} == trained


def test_the_distributed_optimizer_is_refused_on_a_cpu(tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    args = made_args(tmp_path).replace(use_distributed_optimizer=True)
    with pytest.raises(ValueError, match="--use-distributed-optimizer needs GPUs"):
        build_optimizer(args, data_parallel(args, build_model(args)))


class _Optimizer:
    def __init__(self) -> None:
        self.param_groups = [{"lr": 0.0, "weight_decay": 0.0}]


@pytest.mark.parametrize(
    ("words", "rates"),
    [
        (["--lr-decay-style", "linear"], [1.0, 0.9, 0.8, 0.7]),
        (["--lr-decay-style", "constant"], [1.0, 1.0, 1.0, 1.0]),
        (["--lr-decay-style", "constant", "--lr-warmup-iters", "2"], [0.0, 0.5, 1.0, 1.0]),
        (["--lr-decay-style", "constant", "--lr-warmup-iters", "40"], [0.0, 0.025, 0.05, 0.075]),
        (["--lr-decay-style", "linear", "--lr-warmup-fraction", "0.2"], [0.0, 0.5, 1.0, 0.875]),
        (["--lr-decay-style", "linear", "--lr-decay-iters", "2", "--min-lr", "0.1"], [1.0, 0.55, 0.1, 0.1]),
        (["--n-samples-per-prompt", "2", "--num-steps-per-rollout", "2", "--lr-decay-style", "linear"], [1, 0.95, 0.9]),
    ],
)
def test_the_schedule_counts_samples(words: list[str], rates: list[float], tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    args, optimizer = made_args(tmp_path, "--lr", "1.0", *words), _Optimizer()
    scheduler = build_scheduler(args, optimizer)
    seen = []
    for _ in rates:
        seen.append(optimizer.param_groups[0]["lr"])
        scheduler.step(increment=args.global_batch_size)
    assert seen == pytest.approx(rates)
