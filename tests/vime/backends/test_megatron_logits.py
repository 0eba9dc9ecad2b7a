"""The trainer's model computes what transformers' own modelling does, on packed sequences."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from collections.abc import Iterator

from megatron_world import FAMILIES, VOCAB, gradients, hf_model, logits, made_args, made_pack, made_state

from vime.backends.megatron_utils.model_provider import build_model
from vime.backends.megatron_utils.parallel import init_parallel
from vime.backends.megatron_utils.weights import load_hf


@pytest.fixture(autouse=True)
def one_rank() -> Iterator[None]:
    place = init_parallel()
    yield
    place.close()


LENGTHS = (5, 1, 40, 17, 33, 2, 200)


@pytest.mark.parametrize("family", FAMILIES)
def test_packed_logits_are_those_of_transformers(family: str, tmp_path: Path) -> None:
    reference = hf_model(family, tmp_path)
    model = build_model(made_args(tmp_path))
    load_hf(model, tmp_path)
    pack = made_pack(LENGTHS)
    with torch.no_grad():
        mine = logits(model[0], pack)
        theirs = torch.cat([reference(one).logits[0] for one in pack.sequences()])
    assert mine.shape == (sum(LENGTHS), VOCAB)
    assert theirs.std() > 0.3
    assert (mine - theirs).abs().max() < 1e-5


def test_a_sequence_does_not_see_its_neighbours(tmp_path: Path) -> None:
    hf_model("qwen3", tmp_path)
    model = build_model(made_args(tmp_path))
    load_hf(model, tmp_path)
    pack = made_pack((7, 9, 8))
    with torch.no_grad():
        before = logits(model[0], pack)
        pack.tokens[:, 7:16] = (pack.tokens[:, 7:16] + 1) % VOCAB
        after = logits(model[0], pack)
    same = torch.tensor([True] * 7 + [False] * 9 + [True] * 8)
    assert torch.equal(before[same], after[same])
    assert (before[~same] - after[~same]).abs().amax(dim=1).min() > 1e-2


def test_a_token_does_not_see_what_follows(tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    model = build_model(made_args(tmp_path))
    load_hf(model, tmp_path)
    pack = made_pack((12,))
    with torch.no_grad():
        before = logits(model[0], pack)
        pack.tokens[:, 8:] = (pack.tokens[:, 8:] + 1) % VOCAB
        after = logits(model[0], pack)
    assert torch.equal(before[:8], after[:8])


@pytest.mark.parametrize("family", ["qwen3-tied", "qwen2", "llama"])
def test_gradients_are_those_of_transformers_whatever_the_packing(family: str, tmp_path: Path) -> None:
    reference = hf_model(family, tmp_path)
    state = made_state(made_args(tmp_path), tmp_path)
    whole = made_pack((6, 6, 6, 6))
    gradients(state, [whole])
    packed = {name: one.main_grad.clone() for name, one in state.model[0].module.named_parameters()}
    gradients(state, [_part(whole, row) for row in range(4)])
    alone = {name: one.main_grad.clone() for name, one in state.model[0].module.named_parameters()}
    assert max((packed[name] - alone[name]).abs().max() for name in packed) < 1e-6

    out = torch.cat([reference(one).logits[0] for one in whole.sequences()])
    torch.nn.functional.cross_entropy(out, whole.tokens[0]).backward()
    theirs = reference.model.embed_tokens.weight.grad
    assert theirs.abs().max() > 1e-2
    assert (packed["embedding.word_embeddings.weight"] - theirs).abs().max() < 1e-6
    down = reference.model.layers[0].mlp.down_proj.weight.grad
    assert (packed["decoder.layers.0.mlp.linear_fc2.weight"] - down).abs().max() < 1e-6


def _part(pack, row):
    alone = made_pack((6,))
    return type(alone)(pack.tokens[:, row * 6 : row * 6 + 6], alone.position_ids, alone.cu_seqlens, 6)


def test_bfloat16_stays_near(tmp_path: Path) -> None:
    reference = hf_model("qwen3", tmp_path)
    model = build_model(made_args(tmp_path, "--dtype", "bfloat16"))
    load_hf(model, tmp_path)
    assert {one.dtype for one in model[0].parameters()} == {torch.bfloat16}
    pack = made_pack((20, 30))
    with torch.no_grad():
        mine = logits(model[0], pack).float()
        theirs = torch.cat([reference(one).logits[0] for one in pack.sequences()])
    assert (mine - theirs).abs().mean() < 0.02 * theirs.std()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"attention_dropout": 0.1}, "no dropout"),
        ({"context_parallel_size": 2}, "--context-parallel-size"),
        ({"recompute_granularity": "full"}, "--recompute-granularity needs GPUs"),
        ({"tensor_model_parallel_size": 2}, "1 tensor ranks were set up, and args want 2"),
    ],
)
def test_what_a_cpu_cannot_do_is_refused(changes: dict, said: str, tmp_path: Path) -> None:
    hf_model("qwen3", tmp_path)
    with pytest.raises(ValueError, match=said):
        build_model(made_args(tmp_path).replace(**changes))
