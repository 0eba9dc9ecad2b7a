"""Options of installed packages: read from fakes in a subprocess, kept in a cache that forgives."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from config_world import MEGATRON, VLLM, enough, vime, write_package

from vime.config.engine import engine_words
from vime.config.introspect.catalogue import MEGATRON as MEGATRON_TARGET
from vime.config.introspect.catalogue import VLLM as VLLM_TARGET
from vime.config.introspect.catalogue import options_of_package
from vime.config.packages import schema
from vime.config.problems import ConfigError
from vime.config.resolve import resolve
from vime.config.schema import NotInstalled


@pytest.fixture
def fakes(tmp_path: Path) -> Path:
    return write_package(tmp_path / "site-packages", VLLM | MEGATRON)


def dry(tmp_path: Path, fakes: Path, *words: str, **environment: str) -> dict:
    done = vime("train", *enough(tmp_path), *words, "--dry-run", "--json", path=fakes, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def wrong(tmp_path: Path, fakes: Path, *words: str) -> str:
    done = vime("train", *enough(tmp_path), *words, "--dry-run", path=fakes)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    return done.stderr


def test_vllms_flags_have_their_types_and_reach_the_engine(tmp_path, fakes):
    words = ["--vllm-max-num-seqs", "8", "--vllm-no-enable-prefix-caching", "--vllm-load-format=dummy"]
    words += [
        "--vllm-hf-overrides",
        '{"a": 1}',
        "--vllm-compilation-config",
        '{"mode": 0}',
        "--vllm-stop-words",
        "a",
        "b",
    ]
    shown = dry(tmp_path, fakes, *words)
    assert shown["engine"] == {
        "compilation_config": {"mode": 0},
        "dtype": "float32",
        "enable_prefix_caching": False,
        "enforce_eager": True,
        "hf_overrides": {"a": 1},
        "load_format": "dummy",
        "max_num_seqs": 8,
        "stop_words": ["a", "b"],
    }
    assert shown["config"]["vllm_max_num_seqs"] == 8 and shown["origins"]["vllm_max_num_seqs"] == "--vllm-max-num-seqs"


def test_the_engine_is_given_words_of_its_own_parser(tmp_path, fakes, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(fakes))
    monkeypatch.syspath_prepend(fakes)
    words = ["--vllm-max-num-seqs", "8", "--vllm-no-enable-prefix-caching", "--vllm-stop-words", "a", "-b"]
    words += ["--vllm-compilation-config", '{"mode": 0}', "--vllm-api-key", "-k"]
    assert engine_words(resolve([*enough(tmp_path), *words], [], schema())) == [
        "--api-key=-k",
        '--compilation-config={"mode": 0}',
        "--dtype=float32",
        "--no-enable-prefix-caching",
        "--enforce-eager",
        "--max-num-seqs=8",
        "--stop-words",
        "a",
        "-b",
    ]


def test_megatrons_fields_are_flags(tmp_path, fakes):
    words = [
        "--num-layers",
        "2",
        "--cuda-graph-scope",
        "full",
        "--attention-backend",
        "local",
        "--cp-sizes",
        "1",
        "2",
    ]
    shown = dry(tmp_path, fakes, *words, "--overlap-grad-reduce", "--no-apply-rope-fusion", "--frequency", "[1, 0]")
    fields = shown["megatron"]
    assert (fields["num_layers"], fields["cuda_graph_scope"], fields["attention_backend"]) == (2, "full", "local")
    assert (fields["cp_sizes"], fields["overlap_grad_reduce"], fields["apply_rope_fusion"]) == ([1, 2], True, False)
    assert fields["frequency"] == [1, 0] and shown["config"]["lr"] == 1e-6


def test_a_file_nests_them_without_the_prefix(tmp_path, fakes):
    file = tmp_path / "run.yaml"
    file.write_text(
        "vllm:\n  max-num-seqs: 3\n  vllm_load_format: dummy\n  compilation_config: {mode: 3}\nmegatron: {decoupled: true, swiglu: true}\n"
    )
    shown = dry(tmp_path, fakes, "--config", str(file))
    assert (shown["engine"]["max_num_seqs"], shown["engine"]["compilation_config"]) == (3, {"mode": 3})
    assert shown["megatron"]["decoupled"] is True and shown["origins"]["vllm_max_num_seqs"] == f"{file}:2"


def test_mistakes_in_them_are_told_with_the_nearest(tmp_path, fakes):
    words = [
        "--vllm-max-num-seq",
        "8",
        "--vllm-load-format",
        "odd",
        "--cuda-graph-scope",
        "half",
        "--hiden-size",
        "4",
    ]
    said = wrong(
        tmp_path,
        fakes,
        *words,
        "--vllm-port",
        "1",
        "--num-layers",
        "3",
        "--layernorm-epsilon",
        "1e-6",
        "--norm-epsilon",
        "1e-4",
    )
    for part in (
        "--vllm-max-num-seq: flags are not abbreviated; did you mean --vllm-max-num-seqs?",
        "'odd' is none of auto, dummy",
        "'half' is none of full, selective",
        "--hiden-size: no such flag; did you mean --hidden-size?",
        "--vllm-port: the framework sets it",
        "--num-layers: num_layers 3 is 2 in",
        "layernorm_epsilon is 1e-06 by --layernorm-epsilon and 0.0001 by this",
    ):
        assert part in said, said


def test_help_shows_types_choices_and_defaults(tmp_path, fakes):
    shown = vime("--help", "vllm", path=fakes).stdout
    assert "--vllm-max-num-seqs N" in shown and "How many at 100% once. (default: 256)" in shown
    assert "--vllm-load-format {auto,dummy}" in shown and "--vllm-no-enable-prefix-caching" in shown
    shown = vime("--help", "megatron", path=fakes).stdout
    assert "Layers of the stack." in shown and "--cuda-graph-scope {full,selective}" in shown
    assert "activation-func" not in shown and "--swiglu" in shown and "--lr " not in shown


def test_all_shows_their_defaults_and_reads_back_as_it_was(tmp_path, fakes):
    shown = dry(tmp_path, fakes, "--all", "--vllm-max-num-seqs", "4")
    assert shown["config"]["vllm_load_format"] == "auto" and shown["config"]["num_layers"] == 2
    assert "vllm_port" not in shown["config"]
    again = tmp_path / "again.json"
    again.write_text(json.dumps(shown["config"]))
    done = vime("train", "--config", str(again), "--dry-run", "--json", "--all", path=fakes)
    assert done.returncode == 0, done.stderr
    second = json.loads(done.stdout)
    assert second["config"] == shown["config"] and second["megatron"].items() >= shown["megatron"].items()


def test_a_package_that_is_missing_matters_only_when_its_flags_are_used(tmp_path):
    broken = write_package(tmp_path / "site-packages", {"vllm/__init__.py": "", "megatron/core/__init__.py": ""})
    assert vime("train", *enough(tmp_path), "--dry-run", path=broken).returncode == 0
    said = wrong(tmp_path, broken, "--vllm-max-num-seqs", "1")
    assert "the options of vLLM cannot be read (ModuleNotFoundError: No module named 'vllm.utils')" in said
    assert "see that `import vllm` works" in said
    assert "cannot be read" in vime("--help", "vllm", path=broken).stdout


def test_a_package_that_is_not_installed_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = [*enough(tmp_path), "--vllm-max-num-seqs", "1", "--num-layers", "2", "--rollout-batch", "8"]
    with pytest.raises(ConfigError) as error:
        resolve(words, [], schema())
    said = [str(problem) for problem in error.value.problems]
    assert "--vllm-max-num-seqs: no such flag of the framework, and vLLM is not installed; install vllm" in said[0]
    assert "--num-layers: no such flag of the framework, and Megatron-core is not installed" in said[1]
    assert said[2] == "--rollout-batch: flags are not abbreviated; did you mean --rollout-batch-size?"
    assert resolve(enough(tmp_path), [], schema()).engine == {"dtype": "float32", "enforce_eager": True}


def test_the_package_is_read_once_and_again_when_it_changes(tmp_path, fakes):
    count = tmp_path / "count"
    for _ in range(3):
        dry(tmp_path, fakes, "--vllm-max-num-seqs", "8", FAKE_COUNT=str(count))
    assert count.read_text() == "x"
    parser = fakes / "vllm/entrypoints/launchers/cli_args.py"
    parser.write_text(parser.read_text().replace("--max-num-seqs", "--max-sequences"))
    assert dry(tmp_path, fakes, "--vllm-max-sequences", "8", FAKE_COUNT=str(count))["engine"]["max_sequences"] == 8
    assert count.read_text() == "xx"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"form": 1}', b'{"form": 1, "sources": [], "rows": [{}]}', b"\xff"]
)
def test_a_broken_cache_is_read_again(tmp_path, fakes, own_cache, content):
    dry(tmp_path, fakes, "--vllm-max-num-seqs", "8")
    (entry,) = own_cache.glob("vime/options/*.json")
    whole = entry.read_bytes()
    entry.write_bytes(content)
    assert dry(tmp_path, fakes, "--vllm-max-num-seqs", "8")["engine"]["max_num_seqs"] == 8
    assert entry.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, fakes, own_cache):
    own_cache.write_text("a file where the folder should be")
    assert dry(tmp_path, fakes, "--vllm-max-num-seqs", "8")["engine"]["max_num_seqs"] == 8


def test_two_at_a_time_leave_one_whole_entry(tmp_path, fakes, own_cache):
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: dry(tmp_path, fakes, "--vllm-max-num-seqs", "8"), range(3)))
    assert [path.suffix for path in (own_cache / "vime/options").iterdir()] == [".json"]


ENGINE_PYTHON = os.environ.get("VIME_ENGINE_PYTHON", sys.executable)
"""An interpreter that has vLLM and Megatron-core."""


def installed(target) -> dict:
    try:
        return {option.name: option for option in options_of_package(target, ENGINE_PYTHON)}
    except NotInstalled as missing:
        pytest.skip(f"{missing.what} (VIME_ENGINE_PYTHON can name an interpreter that has it)")


@pytest.mark.slow
def test_the_real_vllm():
    options = installed(VLLM_TARGET)
    assert len(options) > 200 and options["vllm_max_num_seqs"].kind == "int"
    assert options["vllm_enable_prefix_caching"].off_flags == ("--vllm-no-enable-prefix-caching",)
    assert "float32" in options["vllm_dtype"].choices and options["vllm_api_key"].secret
    assert {"vllm_chat_template", "vllm_weight_transfer_config", "vllm_max_model_len"} <= set(options)
    assert sum(not option.help for option in options.values()) < 10


@pytest.mark.slow
def test_the_real_megatron_core():
    options = installed(MEGATRON_TARGET)
    assert len(options) > 200 and options["num_layers"].help.startswith("Number of transformer layers")
    assert options["recompute_granularity"].choices == ("full", "selective")
    assert options["use_distributed_optimizer"].kind == "bool" and "overlap_grad_reduce" in options
    assert "activation_func" not in options
