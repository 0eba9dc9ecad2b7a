"""Server flags in Python, shell, templates and documents: converted, folded, or dropped so that what is left is valid."""

import ast
import shutil
import subprocess

import pytest

from sync_tools.translate import Translator

TRANSLATOR = Translator()


def python(text: str) -> str:
    done = TRANSLATOR.file("tests/test_a.py", text.encode()).data.decode()
    ast.parse(done)
    return done


def shell(text: str) -> str:
    done = TRANSLATOR.file("scripts/run.sh", text.encode()).data
    if bash := shutil.which("bash"):
        assert subprocess.run([bash, "-n"], input=done, capture_output=True).returncode == 0
    return done.decode()


def test_the_flags_of_an_end_to_end_test() -> None:
    text = (
        "args = (\n"
        '    "--rollout-num-gpus 8 "\n'
        '    "--sglang-mem-fraction-static 0.8 "\n'
        '    "--sglang-cuda-graph-max-bs 32 "\n'
        '    "--sglang-max-running-requests 512 "\n'
        '    "--sglang-enable-metrics "\n'
        ")\n"
    )
    assert python(text) == (
        "args = (\n"
        '    "--rollout-num-gpus 8 "\n'
        '    "--vllm-gpu-memory-utilization 0.8 "\n'
        '    "--vllm-max-cudagraph-capture-size 32 "\n'
        '    "--vllm-max-num-seqs 512 "\n'
        ")\n"
    )
    dropped = [a for a in TRANSLATOR.file("a.py", text.encode()).applications if not a.after]
    assert [(a.line, a.column, a.before) for a in dropped] == [(6, 6, "--sglang-enable-metrics")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a = "--sglang-enable-metrics " "--b 1"\n', 'a = "--b 1"\n'),
        ('a = "--b 1 " "--sglang-enable-metrics "\n', 'a = "--b 1 "\n'),
        ('a = "--b 1 --sglang-enable-metrics"\n', 'a = "--b 1"\n'),
        ('a = "--sglang-enable-metrics"\n', 'a = ""\n'),
        ('f(\n    "--b "\n    "--sglang-enable-metrics ",\n    2,\n)\n', 'f(\n    "--b ",\n    2,\n)\n'),
        ('f(\n    "--sglang-enable-metrics "\n)\n', 'f(\n    ""\n)\n'),
        ('a = ["x", "--sglang-enable-metrics"]\n', 'a = ["x"]\n'),
        (
            'a = [\n    "x",\n    "--sglang-moe-dense-tp-size",\n    "1",\n    "--y",\n]\n',
            'a = [\n    "x",\n    "--y",\n]\n',
        ),
        ('a = ["--sglang-watchdog-timeout", str(n), "--y"]\n', 'a = ["--y"]\n'),
        ('a += "--sglang-enable-metrics "\n', 'a += ""\n'),
        ('a = (\n    "--sglang-enable-metrics "\n    # why\n    "--b "\n)\n', None),
        ("a = '''\n--b 1\n--sglang-enable-metrics\n--c\n'''\n", "a = '''\n--b 1\n--c\n'''\n"),
        ('a = f"--sglang-ep-size {n} "\n', 'a = "--vllm-enable-expert-parallel "\n'),
        ('a = f"--sglang-ep-size {n} --b {m}"\n', 'a = f"--vllm-enable-expert-parallel --b {m}"\n'),
        ('p.add_argument("--sglang-pp-size", type=int)\n', 'p.add_argument("--vllm-pp-size", type=int)\n'),
        ('i = argv.index("--sglang-kv-cache-dtype")\n', 'i = argv.index("--vllm-kv-cache-dtype")\n'),
    ],
)
def test_python_stays_valid(before: str, after: str | None) -> None:
    done = python(before)
    assert "sglang" not in done
    assert after is None or done == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A=(\n   --a 1\n   --sglang-enable-metrics\n)\n", "A=(\n   --a 1\n)\n"),
        ("A=(\n   # --sglang-moe-dense-tp-size 1\n)\n", "A=(\n)\n"),
        ("x \\\n  --a 1 \\\n  --sglang-enable-metrics \\\n  --b\n", "x \\\n  --a 1 \\\n  --b\n"),
        ("x \\\n  --a 1 \\\n  --sglang-enable-metrics\ny\n", "x \\\n  --a 1\ny\n"),
        ("x \\\n  --a 1 \\\n  --sglang-enable-metrics \\\n  --sglang-watchdog-timeout 9\ny\n", "x \\\n  --a 1\ny\n"),
        ("x --sglang-enable-metrics --b\n", "x --b\n"),
        ('A="--sglang-enable-metrics"\n', 'A=""\n'),
        ("x \\\r\n  --a \\\r\n  --sglang-enable-metrics\r\n", "x \\\r\n  --a\r\n"),
        ("x --sglang-enable-metrics", "x"),
        ("A=(\n  --a\n  --sglang-enable-metrics", None),
        ("x --sglang-debug-tensor-dump-layers 0 1 2 --b\n", "x --b\n"),
        ("x --sglang-attention-backend=fa3\n", "x --vllm-attention-backend FLASH_ATTN\n"),
    ],
)
def test_shell_stays_valid(before: str, after: str | None) -> None:
    if after is not None:
        assert shell(before) == after


def test_the_four_flags_of_speculation_fold_into_one_in_every_quoting() -> None:
    four = ["--sglang-speculative-algorithm EAGLE", "--sglang-speculative-num-steps 3"]
    four += ["--sglang-speculative-eagle-topk 1", "--sglang-speculative-num-draft-tokens 4"]
    config = '{"method":"mtp","num_speculative_tokens":3}'
    assert (
        shell("A=(\n" + "".join(f"   {f}\n" for f in four) + ")\n")
        == f"A=(\n   --vllm-speculative-config '{config}'\n)\n"
    )
    done = python("a = (\n" + "".join(f'    "{f} "\n' for f in four) + ")\n")
    assert ast.literal_eval(done.removeprefix("a = ")) == f"--vllm-speculative-config '{config}' "
    done = python("n = 3\na = (\n" + "".join(f'    f"{f} "\n' for f in four).replace("steps 3", "steps {n}") + ")\n")
    scope: dict[str, object] = {}
    exec(done, scope)
    assert scope["a"] == f"--vllm-speculative-config '{config}' "


def test_a_draft_model_of_its_own_is_eagle_and_a_variable_reaches_the_shell() -> None:
    text = "x --sglang-speculative-algorithm EAGLE --sglang-speculative-num-steps ${N} --sglang-speculative-draft-model-path /m\n"
    assert (
        shell(text)
        == 'x --vllm-speculative-config "{\\"method\\":\\"eagle\\",\\"model\\":\\"/m\\",\\"num_speculative_tokens\\":${N}}"\n'
    )


def test_what_has_no_counterpart_stays_and_is_reported() -> None:
    text = b"x --sglang-speculative-algorithm EAGLE --sglang-speculative-eagle-topk 8 --sglang-disaggregation-ib-device mlx5\n"
    done = TRANSLATOR.file("a.sh", text)
    assert done.data == text
    assert len(done.unresolved) == 3


def test_an_unknown_flag_is_renamed_and_reported() -> None:
    done = TRANSLATOR.file("a.sh", b"x --sglang-brand-new 1\n")
    assert done.data == b"x --vllm-brand-new 1\n"
    assert [s.what for s in done.unresolved] == ["--sglang-brand-new"]


def test_a_flag_that_prose_only_names_stays_and_is_reported() -> None:
    text = "Set `--sglang-enable-dp-attention` for SGLang.\n"
    done = TRANSLATOR.file("README.md", text.encode())
    assert done.data.decode() == text.replace("SGLang.", "vLLM.")
    assert [s.line for s in done.unresolved] == [1]


def test_settings_of_an_engine_configuration() -> None:
    text = "sglang:\n  - name: a\n    overrides:\n      mem_fraction_static: 0.8\n      enable_dp_attention: true\n      ep_size: 8\n    tail: ep_size\n"
    done = TRANSLATOR.file("a.yaml", text.encode()).data.decode()
    assert (
        done
        == "vllm:\n  - name: a\n    overrides:\n      gpu_memory_utilization: 0.8\n      enable_expert_parallel: true\n    tail: ep_size\n"
    )


def test_megatron_flags_of_like_names_are_left() -> None:
    text = "A=(\n   --attention-backend flash\n   --context-parallel-size 2\n   --moe-enable-deepep\n)\n"
    assert shell(text) == text


def test_a_patch_keeps_its_lines() -> None:
    patch = "--- a/slime/a.sh\n+++ b/slime/a.sh\n@@ -1,2 +1,2 @@\n x\n+--sglang-enable-metrics\n"
    assert TRANSLATOR.file("docker/x.patch", patch.encode()).data.decode().count("\n") == patch.count("\n")
    assert TRANSLATOR.file("some.patch", patch.encode()).data.decode().count("\n") == patch.count("\n")
