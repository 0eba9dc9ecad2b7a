"""The model's configuration: the fields it implies, what is refused, and flags that contradict it."""

import json

import pytest
from config_world import enough, made, problems, write_model


def test_a_qwen3_implies_its_fields(tmp_path):
    config = made(enough(tmp_path))
    assert config.megatron == {
        "num_layers": 2,
        "hidden_size": 128,
        "ffn_hidden_size": 256,
        "num_attention_heads": 4,
        "num_query_groups": 2,
        "kv_channels": 32,
        "layernorm_epsilon": 1e-6,
        "normalization": "RMSNorm",
        "gated_linear_unit": True,
        "activation_func": "silu",
        "add_bias_linear": False,
        "add_qkv_bias": False,
        "qk_layernorm": True,
        "attention_dropout": 0.0,
        "hidden_dropout": 0.0,
    }
    assert (config.args.vocab_size, config.args.rotary_base, config.args.num_layers) == (128, 10000.0, 2)
    assert config.args.untie_embeddings_and_output_weights is True
    assert config.origins["num_layers"].endswith("model/config.json")


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"model_type": "qwen2"}, "add_qkv_bias", True),
        ({"model_type": "qwen2"}, "qk_layernorm", False),
        ({"model_type": "llama", "head_dim": None}, "kv_channels", 32),
        ({"model_type": "qwen3", "head_dim": None}, "kv_channels", 128),
        ({"model_type": "llama"}, "add_qkv_bias", False),
        ({"num_key_value_heads": None}, "num_query_groups", 4),
        ({"tie_word_embeddings": True}, "untie_embeddings_and_output_weights", False),
        ({"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}}, "rotary_base", 5e5),
        ({"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}}, "rope_scaling", None),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_scaling", {"rope_type": "linear", "factor": 2.0}),
    ],
)
def test_families_differ(tmp_path, changes, field, value):
    words = enough(tmp_path)
    write_model(tmp_path / "model", **changes)
    assert getattr(made(words).args, field) == value


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "mamba"}, "the model is of type mamba; use one of qwen2, qwen3, llama"),
        ({"hidden_act": "gelu"}, "its activation is not SiLU"),
        ({"use_sliding_window": True}, "it uses a sliding window"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "its rotary embedding is stretched in a way not known here"),
        ({"quantization_config": {}}, "its weights are quantised"),
        ({"hidden_size": "wide", "head_dim": None, "model_type": "llama"}, "a value is of the wrong type"),
    ],
)
def test_what_cannot_be_trained_is_refused(tmp_path, changes, said):
    words = enough(tmp_path)
    write_model(tmp_path / "model", **changes)
    assert [said in line for line in problems(words)] == [True]


def test_a_folder_without_a_model_is_told(tmp_path):
    words = enough(tmp_path)
    path = tmp_path / "model" / "config.json"
    for text, said in (
        ("{", "is not JSON"),
        ("[]", "of type None"),
        (json.dumps({"model_type": "llama"}), "num_hidden_layers is missing"),
    ):
        path.write_text(text)
        assert any(said in line for line in problems(words)), text
    path.unlink()
    assert any("there is no" in line and "hf download" in line for line in problems(words))


def test_what_makes_a_missing_model_is_named_the_first_stage_or_the_page_about_them_all(tmp_path):
    (tmp_path / "prepare.py").touch()
    words = [*enough(tmp_path), "--hf-checkpoint", str(tmp_path / "out/second")]
    assert any(line.endswith(f"run python {tmp_path}/prepare.py, which makes it") for line in problems(words))
    (tmp_path / "out").mkdir()  # by which it was run
    assert any(line.endswith(f"{tmp_path}/README.md says what makes it") for line in problems(words))


def test_a_flag_that_contradicts_the_model_is_told(tmp_path):
    found = problems([*enough(tmp_path), "--vocab-size", "64", "--rotary-base", "1e6", "--norm-epsilon", "1e-5"])
    assert sorted(line.split(": ")[0] for line in found) == ["--norm-epsilon", "--rotary-base", "--vocab-size"]
    assert problems([*enough(tmp_path), "--vocab-size", "128", "--norm-epsilon", "1e-6", "--swiglu"]) == []


def test_a_model_of_ones_own_needs_no_known_type(tmp_path):
    words = enough(tmp_path)
    write_model(tmp_path / "model", model_type="mine")
    assert made([*words, "--custom-model-provider-path", "mine.model"]).megatron == {}
