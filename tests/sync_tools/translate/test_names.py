"""Names in all casings, what is protected, imports, and another fork by configuration."""

import pytest

from sync_tools.config import Config
from sync_tools.translate import Translator

TRANSLATOR = Translator()


def translated(text: str, path: str = "slime/a.py") -> str:
    return TRANSLATOR.file(path, text.encode()).data.decode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SGLangEngine", "VLLMEngine"),
        ("SglangConfig", "VllmConfig"),
        ("TestSglangConfigUpdate", "TestVllmConfigUpdate"),
        ("FakeSGLangServer", "FakeVLLMServer"),
        ("the SGLang server", "the vLLM server"),
        ("SGLang-native", "vLLM-native"),
        ("build_sglang_meta_trace_attrs", "build_vllm_meta_trace_attrs"),
        ("SGLANG_ARGS", "VLLM_ARGS"),
        ("SLIME_TEST_USE_DEEPEP", "VIME_TEST_USE_DEEPEP"),
        ("'\\nslime \\tsglang'", "'\\nvime \\tvllm'"),
        ("run-ci-sglang-config", "run-ci-vllm-config"),
        ("/root/slime/train.py", "/root/vime/train.py"),
        ("slime-pp_0", "vime-pp_0"),
        ("slime_plugins.models", "vime_plugins.models"),
        ("sublime slimerl slimes", "sublime slimerl slimes"),
        ("sgl_kernel SGL_DEVICE", "sgl_kernel SGL_DEVICE"),
    ],
)
def test_casings(old: str, new: str) -> None:
    assert translated(f"x = {old}\n", "a.txt") == f"x = {new}\n"


@pytest.mark.parametrize(
    "text",
    [
        "# Adapted from https://github.com/THUDM/slime/pull/370 and the SGLang docs (https://docs.sglang.ai).",
        "see THUDM/slime#1921 and sgl-project/sglang#6",
        "docker pull lmsysorg/sglang:v0.5",
        "image: slimerl/slime:latest",
        "Special thanks to SGLang and slime.",
        "This is derived from slime",
        "mail slime@example.org",
    ],
)
def test_protected_spans_stay(text: str) -> None:
    assert translated(text + "\n", "README.md") == text + "\n"


def test_an_attribution_protects_its_sentence_and_no_more() -> None:
    assert translated("# Ported from SGLang. Used by slime.\n") == "# Ported from SGLang. Used by vime.\n"


def test_a_url_made_of_fields_is_code() -> None:
    assert translated('u = f"http://{args.sglang_router_ip}:1/x"\n') == 'u = f"http://{args.vllm_router_ip}:1/x"\n'


def test_an_import_without_a_counterpart_stays_with_the_names_it_binds() -> None:
    text = (
        "from sglang.srt.disaggregation import launch as sglang_launch\n"
        "import sglang\n\n\ndef f(sglang_url):\n    sglang_launch(sglang_url)\n    return sglang.Engine\n"
    )
    done = TRANSLATOR.file("slime/a.py", text.encode())
    assert done.data.decode() == text.replace("sglang_url", "vllm_url")
    assert [s.line for s in done.unresolved] == [1, 2]


def test_a_wrapped_import_is_one_site_over_its_lines() -> None:
    done = TRANSLATOR.file(
        "a.py", b"if x:\n    from sglang.srt.layers import (  # why\n        a,\n        b,\n    )\n"
    )
    assert [(s.line, s.end_line) for s in done.unresolved] == [(2, 5)]


def test_a_module_named_in_a_string_is_reported_and_in_a_comment_is_not() -> None:
    done = TRANSLATOR.file("a.py", b'm = import_module("sglang.srt.layers")  # sglang.srt.layers\n')
    assert [s.what for s in done.unresolved] == ["sglang.srt.layers"]
    assert b"vllm.srt" not in done.data


def test_an_import_of_several_names_is_rewritten_only_as_a_whole() -> None:
    both = "from sglang.srt.utils import kill_process_tree, MultiprocessingSerializer\n"
    assert translated(both) == both
    assert translated("from sglang.srt.utils import kill_process_tree\n").startswith("from vllm.utils.system_utils ")


def test_a_variable_of_the_engine_goes_with_its_line_and_only_then() -> None:
    env = 'env = {\n    "SGLANG_ENABLE_X": "0",\n    "SLIME_A": "1",\n}\nos.environ["SGLANG_ENABLE_X"] = "1"\n'
    done = TRANSLATOR.file("a.py", env.encode())
    assert done.data.decode() == 'env = {\n    "VIME_A": "1",\n}\nos.environ["SGLANG_ENABLE_X"] = "1"\n'
    assert [s.line for s in done.unresolved] == [5]


MILES = Config.model_validate(
    {
        "engine": "same",
        "fork": "miles",
        "names": ({"old": "slime", "new": "miles"},),
        "repositories": (
            {"old": "THUDM/slime", "new": "radixark/miles"},
            {"old": "slimerl/slime", "new": "radixark/miles"},
        ),
    }
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from slime.rollout.sglang_rollout import X", "from miles.rollout.sglang_rollout import X"),
        (
            "--sglang-enable-metrics SGLangEngine consistent_hashing",
            "--sglang-enable-metrics SGLangEngine consistent_hashing",
        ),
        ("from sglang.srt.utils import kill_process_tree", "from sglang.srt.utils import kill_process_tree"),
        ("git clone https://github.com/THUDM/slime.git", "git clone https://github.com/radixark/miles.git"),
        ("git clone https://github.com/slimerl/slime", "git clone https://github.com/radixark/miles"),
        (
            "https://github.com/THUDM/slime/blob/main/slime/a.py",
            "https://github.com/radixark/miles/blob/main/miles/a.py",
        ),
        ("https://github.com/THUDM/slime/pull/370", "https://github.com/THUDM/slime/pull/370"),
        ("THUDM/slime#370", "THUDM/slime#370"),
        ("FROM slimerl/slime:latest", "FROM radixark/miles:latest"),
    ],
)
def test_another_fork_is_configuration_only(old: str, new: str) -> None:
    done = Translator(MILES).file("a.py", f"{old}\n".encode())
    assert done.data.decode() == f"{new}\n"
    assert done.unresolved == ()


def test_a_new_name_that_holds_the_old_one_is_not_renamed_again() -> None:
    translator = Translator(Config.model_validate({"names": ({"old": "slime", "new": "my-slime"},)}))
    once = translator.file("a.txt", b"slime Slime\n").data
    assert once == b"my-slime My-slime\n"
    assert translator.file("a.txt", once).data == once


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        ("requirements.txt", "sglang[all]==0.5.15.post1\n", "sglang[all]==0.5.15.post1"),
        ("setup.py", 'requires = ["sglang>=0.5.2"]\n', "sglang>=0.5.2"),
        ("docs/a.md", "the image has SGLang v0.5.9 in it\n", "SGLang v0.5.9"),
    ],
)
def test_a_version_of_the_old_engine_is_left_and_reported(path: str, text: str, what: str) -> None:
    done = Translator().file(path, text.encode())
    assert done.data == text.encode()
    assert [site.what for site in done.unresolved] == [what]


def test_an_engine_without_a_version_and_other_numbers_are_renamed() -> None:
    text = "pip install sglang\n# sglang, 0.5 s; sglang uses 8.0 GB\n--sglang-mem-fraction-static 0.7\n"
    done = Translator().file("run.sh", text.encode())
    assert b"sglang" not in done.data and done.unresolved == ()
