"""The file of --vllm-config, and the engines that it makes."""

import pytest
from engine_world import config_of

from vime.backends.vllm_utils.engine_plan import engine_specs
from vime.backends.vllm_utils.vllm_config import ServerGroupConfig, VllmConfig, VllmConfigError
from vime.config.problems import ConfigError

TWO_MODELS = """
vllm:
  - name: actor
    num_gpus_per_engine: 2
    server_groups:
      - {worker_type: regular, num_gpus: 4}
      - {worker_type: placeholder, num_gpus: 2}
  - name: judge
    model_path: /judge
    engine_groups:
      - {worker_type: regular, num_gpus: 1, num_gpus_per_engine: 1, overrides: {max-model-len: 64}}
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        (tmp_path / "engines.yaml").write_text(text)
        return str(tmp_path / "engines.yaml")

    return write


def test_models_groups_and_what_is_kept_free(tmp_path, written):
    config = config_of(tmp_path, "--vllm-config", written(TWO_MODELS), "--rollout-num-gpus", "7")
    found = [(s.rank, s.model, s.num_gpus, s.gpu_offset, s.update_weights) for s in engine_specs(config.args)]
    assert found == [(0, "actor", 2, 0, True), (1, "actor", 2, 2, True), (2, "judge", 1, 6, False)]
    judge = engine_specs(config.args)[2]
    assert judge.model_path == "/judge" and judge.overrides == {"max_model_len": 64}


def test_without_a_file_there_is_one_model(tmp_path):
    specs = engine_specs(config_of(tmp_path, "--rollout-num-gpus", "2").args)
    assert [(spec.rank, spec.model, spec.num_gpus, spec.gpu_offset) for spec in specs] == [
        (0, "default", 1, 0),
        (1, "default", 1, 1),
    ]


def test_engines_that_run_already_are_the_only_ones(tmp_path):
    specs = engine_specs(config_of(tmp_path, "--rollout-external-engine-addrs", "a:1", "b:2").args)
    assert [spec.external for spec in specs] == ["a:1", "b:2"]


GROUP = "vllm: [{name: a, server_groups: [{%s}]}]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GROUP % "worker_type: prefill, num_gpus: 1", "KV connector"),
        (GROUP % "worker_type: decode, num_gpus: 1", "KV connector"),
        (GROUP % "worker_type: encoder, num_gpus: 1", "EC connector"),
        (GROUP % "worker_type: fast, num_gpus: 1", "it is regular or placeholder"),
        (GROUP % "worker_type: regular, num_gpus: 0", "num_gpus 0"),
        (GROUP % "worker_type: regular, num_gpus: 3, num_gpus_per_engine: 2", "no multiple of 2"),
        (GROUP % "worker_type: regular", "num_gpus is missing"),
        (GROUP % "worker_type: regular, num_gpus: 1, gpus: 2", "no key is called gpus"),
        ("vllm: [{name: a, server_groups: []}]", "at least one group"),
        ("vllm: [{server_groups: [{worker_type: regular, num_gpus: 1}]}]", "name is missing"),
        ("sglang: []", "under `vllm:`"),
        ("vllm: [", "is not YAML"),
        ("!!python/object/apply:os.system ['true']", "is not YAML"),
        (
            (GROUP % "worker_type: regular, num_gpus: 1").replace(
                "]}]", "]}, {name: a, server_groups: [{worker_type: regular, num_gpus: 1}]}]"
            ),
            "same name",
        ),
    ],
)
def test_what_it_may_not_say(tmp_path, written, text, said):
    path = written(text)
    with pytest.raises(VllmConfigError, match=said):
        VllmConfig.from_yaml(path)
    with pytest.raises(ConfigError, match=said):
        config_of(tmp_path, "--vllm-config", path)


def test_its_gpus_are_the_runs(tmp_path, written):
    with pytest.raises(ConfigError, match="set --rollout-num-gpus 7"):
        config_of(tmp_path, "--vllm-config", written(TWO_MODELS), "--rollout-num-gpus", "8")


def test_a_group_is_not_made_wrong():
    with pytest.raises(VllmConfigError):
        ServerGroupConfig("regular", -1)
    assert ServerGroupConfig("placeholder", 2, 1).num_engines == 0


def test_a_head_that_kills_cpu_engines_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="its heads are 16 wide"):
        config_of(tmp_path, head_dim=16)


def test_what_translated_code_reads_of_the_arguments(tmp_path):
    args = config_of(tmp_path).args
    assert (args.vllm_ep_size, args.vllm_moe_dp_size, args.router_policy) == (1, 1, "consistent_hash")


def test_an_engine_over_several_nodes_is_not_started(tmp_path):
    words = ("--rollout-num-gpus", "16", "--rollout-num-gpus-per-engine", "16", "--debug-rollout-only")
    with pytest.raises(ConfigError, match="does not fit on a node of 8"):
        config_of(tmp_path, *words, num_attention_heads=16)
