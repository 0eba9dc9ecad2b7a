"""Weights between Hugging Face's names and Megatron-core's, both ways, from one table."""

import json
import resource
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core")

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st
from megatron_world import FAMILIES, VOCAB, hf_model, logits, made_args, made_pack, made_state, updated
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from vime.backends.megatron_utils.hf_to_megatron import load_hf_weights, supports_hf_weight_loading
from vime.backends.megatron_utils.megatron_to_hf import convert_to_hf, remove_padding
from vime.backends.megatron_utils.model_provider import build_model
from vime.backends.megatron_utils.parallel import init_parallel
from vime.backends.megatron_utils.weights import hf_tensors, load_hf, save_hf
from vime.backends.megatron_utils.weights.errors import WeightsError
from vime.backends.megatron_utils.weights.mapping import Entry, Share
from vime.backends.megatron_utils.weights.reshard import reshard
from vime.backends.megatron_utils.weights.tables import DENSE, find_row
from vime.backends.megatron_utils.weights.transforms import fuse, unfuse
from vime.backends.megatron_utils.weights_backup import WeightSets, parameters_of


@pytest.fixture(autouse=True, scope="module")
def one_rank() -> Iterator[None]:
    place = init_parallel()
    yield
    place.close()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_weights_come_back_bit_for_bit(family: str, dtype: str, tmp_path: Path) -> None:
    hf_model(family, tmp_path / "hf").to(getattr(torch, dtype)).save_pretrained(tmp_path / "hf")
    args = made_args(tmp_path / "hf", "--dtype", dtype)
    model = build_model(args)
    load_hf(model, tmp_path / "hf")
    there = load_file(tmp_path / "hf" / "model.safetensors")
    exported = {name: value.clone() for name, value in hf_tensors(model, args)}
    assert exported.keys() == there.keys()
    assert all(torch.equal(value, there[name]) and value.dtype == there[name].dtype for name, value in exported.items())


def test_a_saved_folder_is_a_model(tmp_path: Path) -> None:
    hf_model("qwen3-tied", tmp_path / "hf")
    (tmp_path / "hf" / "tokenizer.json").write_text("{}")
    (tmp_path / "hf" / "run.py").write_text("print('no')")
    args = made_args(tmp_path / "hf", "--make-vocab-size-divisible-by", "64", "--dtype", "bfloat16")
    model = build_model(args)
    load_hf(model, tmp_path / "hf")
    save_hf(model, args, tmp_path / "out", shard_bytes=30_000)
    (tmp_path / "out" / "old").touch()
    save_hf(model, args, tmp_path / "out", shard_bytes=30_000)
    names = {one.name for one in (tmp_path / "out").iterdir()}
    assert {"config.json", "tokenizer.json", "model.safetensors.index.json"} <= names
    assert not {"run.py", "old"} & names
    index = json.loads((tmp_path / "out" / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"].values()) == {name for name in names if name.endswith(".safetensors")}
    assert len(set(index["weight_map"].values())) > 3
    back = AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype="auto")
    assert back.dtype == torch.bfloat16
    assert back.model.embed_tokens.weight.shape[0] == VOCAB
    other = build_model(args)
    load_hf(other, tmp_path / "out")
    for mine, theirs in zip(model[0].parameters(), other[0].parameters()):
        assert torch.equal(mine, theirs)


def test_a_folder_that_cannot_be_written_leaves_what_was(tmp_path: Path) -> None:
    hf_model("llama", tmp_path / "hf")
    args = made_args(tmp_path / "hf")
    model = build_model(args)
    save_hf(model, args, tmp_path / "out")
    before = (tmp_path / "out" / "model.safetensors").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(WeightsError, match="cannot be written"):
            save_hf(model, args, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["hf", "out"]


def test_padding_has_no_probability_and_is_not_exported(tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    args, padded = made_args(tmp_path), made_args(tmp_path, "--make-vocab-size-divisible-by", "64")
    plain, wide = build_model(args), build_model(padded)
    load_hf(plain, tmp_path)
    load_hf(wide, tmp_path)
    assert wide[0].output_layer.weight.shape[0] == 128
    assert not wide[0].output_layer.weight[VOCAB:].any()
    with torch.no_grad():
        one, other = (logits(model[0], made_pack((5, 7))) for model in (plain, wide))
    assert torch.equal(one, other[:, :VOCAB])
    assert torch.equal(one.softmax(-1), other.softmax(-1)[:, :VOCAB])
    assert dict(hf_tensors(wide, padded))["lm_head.weight"].shape[0] == VOCAB
    mine, theirs = made_state(args, tmp_path), made_state(padded, tmp_path)
    for _ in range(2):
        assert updated(mine, [made_pack((5, 7))]) == pytest.approx(updated(theirs, [made_pack((5, 7))]), abs=1e-6)


def _without(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file({name: value for name, value in load_file(path).items() if "norm" not in name}, path)


def _cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])


def _outside(folder: Path) -> None:
    index = {"weight_map": {"model.norm.weight": "../secret.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _no_index(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text('{"weight_map": 3}')


def _wider(folder: Path) -> None:
    path = folder / "model.safetensors"
    wide = {name: value.repeat(2) if name == "model.norm.weight" else value for name, value in load_file(path).items()}
    save_file(wide, path)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_without, "it has no tensor model.layers.0.input_layernorm.weight"),
        (_cut, "cannot be read"),
        (_outside, "outside of its folder"),
        (_no_index, "cannot be read"),
        (_wider, r"make \(256,\), and decoder.final_layernorm.weight is \(128,\)"),
        (lambda folder: (folder / "model.safetensors").unlink(), "cannot be read"),
    ],
)
def test_what_does_not_fit_is_said(harm, said: str, tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    model = build_model(made_args(tmp_path))
    harm(tmp_path)
    with pytest.raises(WeightsError, match=said):
        load_hf(model, tmp_path)


def test_a_parameter_that_no_row_knows_is_said(tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    args = made_args(tmp_path)
    model = build_model(args)
    model[0].extra = torch.nn.Parameter(torch.zeros(1))
    with pytest.raises(WeightsError, match="extra: this parameter is in no row"):
        dict(hf_tensors(model, args))


def test_both_kinds_of_layers_lead_to_the_same_tensors() -> None:
    fused = {
        "decoder.layers.3.self_attention.linear_qkv.layer_norm_weight": "decoder.layers.3.input_layernorm.weight",
        "decoder.layers.3.mlp.linear_fc1.layer_norm_weight": "decoder.layers.3.pre_mlp_layernorm.weight",
    }
    for one, other in fused.items():
        assert find_row(one) == find_row(other) is not None
    assert find_row("decoder.layers.3.mlp.experts.linear_fc1.weight") is None
    hf = [name for row in DENSE for name in row.hf]
    assert len(set(hf)) == len(hf) == 17


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["copy", "qkv", "gate_up"]),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2, 4]),
    st.booleans(),
)
def test_what_is_fused_comes_apart_and_is_divided_anew(
    kind: str, groups: int, queries: int, head: int, before: int, after: int, bias: bool
) -> None:
    """unfuse is fuse backwards, and shares of some ranks become the shares of others."""
    groups *= 4
    rows = {"qkv": (groups * queries * head, groups * head, groups * head), "gate_up": (8, 8), "copy": (8,)}[kind]
    parts = [torch.randn(count, *(() if bias else (5,))) for count in rows]
    whole = fuse(kind, parts, groups)
    assert all(map(torch.equal, unfuse(kind, whole, groups, queries), parts))

    def shares(ranks: int) -> list[torch.Tensor]:
        return [fuse(kind, [one.chunk(ranks)[rank] for one in parts], groups // ranks) for rank in range(ranks)]

    row = next(row for row in DENSE if row.kind == kind and row.split in (0, None) and not row.vocab)
    row = row if row.split == 0 else next(row for row in DENSE if row.vocab)
    for rank, expected in enumerate(shares(after)):
        entry = Entry("name", torch.nn.Parameter(expected), row, row.hf)
        share = Share(rank, after, groups // after, queries)
        assert torch.equal(reshard(entry, shares(before), share), expected)


@pytest.mark.parametrize("family", ["qwen3", "qwen2-tied", "llama"])
def test_upstreams_names_convert(family: str, tmp_path: Path) -> None:
    hf_model(family, tmp_path)
    args = made_args(tmp_path, "--make-vocab-size-divisible-by", "64")
    model = build_model(args)
    assert supports_hf_weight_loading(tmp_path)
    load_hf_weights(args, model, tmp_path)
    there = load_file(tmp_path / "model.safetensors")
    found = {
        hf: value
        for name, parameter in model[0].named_parameters()
        for hf, value in convert_to_hf(args, family, f"module.module.{name}", parameter)
    }
    assert found.keys() == there.keys()
    assert all(torch.equal(value, there[name]) for name, value in found.items())
    assert remove_padding("decoder.final_layernorm.weight", torch.zeros(128), 97).shape == (128,)
    with pytest.raises(WeightsError, match="no row of the table"):
        convert_to_hf(args, family, "module.module.decoder.layers.0.router.weight", torch.zeros(1))


def test_sets_of_weights_are_swapped_exactly(tmp_path: Path) -> None:
    hf_model("llama", tmp_path)
    state = made_state(made_args(tmp_path), tmp_path)
    sets = WeightSets(parameters_of(state.model))
    pack = made_pack((6, 7))
    seen = {}
    for tag in ("ref", "actor"):
        sets.backup(tag)
        with torch.no_grad():
            seen[tag] = logits(state.model[0], pack)
        updated(state, [pack])
        sets.backup("actor")
    sets.copy(src_tag="actor", dst_tag="old_actor")
    assert sets.backup_tags == ["ref", "actor", "old_actor"]
    with torch.no_grad():
        now = logits(state.model[0], pack)
        with pytest.raises(RuntimeError, match="on the way"), sets.using("ref"):
            assert torch.equal(logits(state.model[0], pack), seen["ref"])
            raise RuntimeError("on the way")
        assert torch.equal(logits(state.model[0], pack), now)
    assert not torch.equal(now, seen["ref"])
    updated(state, [pack])
    assert torch.equal(sets.get("actor")["0.output_layer.weight"], sets.get("old_actor")["0.output_layer.weight"])
