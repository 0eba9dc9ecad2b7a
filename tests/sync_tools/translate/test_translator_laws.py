"""The laws of translation: idempotence, identity on what is neutral, and bytes that survive."""

import ast
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.config import Config
from sync_tools.translate import Translator

TRANSLATOR = Translator()
PIECES = st.sampled_from(
    [
        "slime", "sglang", "SGLang", "Slime", "SLIME_X", "FakeSGLangServer", "sglang_router_ip", "\\nslime", "slimerl/slime:1", " ", ".", "_",
        "\n", "\r\n", "--sglang-enable-metrics ", "--sglang-mem-fraction-static 0.8 ", "--sglang-ep-size {n} ", '"', "'", '"""', "(", ")", "[", "]",
        ", ", "# ", "\\\n", "https://github.com/THUDM/slime/pull/1 ", "THUDM/slime#1 ", "adapted from ", "from sglang.srt.utils import x\n",
        "--sglang-speculative-algorithm EAGLE ", "--sglang-speculative-num-steps 3 ", "f", "```\n", "```python\n", "overrides:\n  ep_size: 8\n",
        "sglang:\n", "cumulative ", "an ", "SGLANG_ENABLE_X=1\n", "sglang:num_running_reqs ", "é", "　", "\x0c", "pkill -9 sglang\n",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)
PATHS = st.sampled_from(["slime/a.py", "README.md", "scripts/run.sh", "a.yml", "b.txt", "c.patch", "ci.yml.j2"])


@settings(max_examples=100, deadline=None)
@given(PATHS, TEXTS)
def test_translating_again_changes_nothing(path: str, text: str) -> None:
    once = TRANSLATOR.file(path, text.encode())
    assert TRANSLATOR.file(path, once.data).data == once.data
    assert TRANSLATOR.file(TRANSLATOR.path(path), once.data).data == once.data


@settings(max_examples=60, deadline=None)
@given(PATHS, st.binary(max_size=120))
def test_bytes_without_a_word_of_upstreams_survive(path: str, data: bytes) -> None:
    assert TRANSLATOR.file(path, data).data == data


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_positions_are_places_of_the_text_that_went_in(text: str) -> None:
    lines = text.split("\n")
    done = TRANSLATOR.file("a.sh", text.encode())
    for a in done.applications:
        assert lines[a.line - 1][a.column - 1 :].startswith(a.before.split("\n")[0][:3])
    assert all(1 <= s.line <= s.end_line <= len(lines) for s in done.unresolved)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"import slime\r\nx = 1\r\n", b"import vime\r\nx = 1\r\n"),
        (b"\xef\xbb\xbfimport slime", b"\xef\xbb\xbfimport vime"),
        (b"# caf\xe9 slime\n", b"# caf\xe9 vime\n"),
        ("# 使用SGLang的slime。\n".encode(), "# 使用vLLM的vime。\n".encode()),
        (b"", b""),
        (b"\0slime", b"\0slime"),
        (b"\x0cslime\x0b\n", b"\x0cvime\x0b\n"),
    ],
)
def test_encodings_line_ends_and_endings_are_kept(data: bytes, expected: bytes) -> None:
    assert TRANSLATOR.file("a.py", data).data == expected


def test_a_file_over_the_limit_is_carried() -> None:
    data = b"slime " * 10
    assert Translator(Config(size_limit=20)).file("a.py", data).data == data


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000 + " slime", "sglang_" * 5_000, '"--sglang-enable-metrics "\n' * 3_000, "`" * 100_000 + "sglang"],
)
def test_time_is_linear_in_hostile_text(text: str) -> None:
    began = time.monotonic()
    TRANSLATOR.file("a.py", text.encode())
    assert time.monotonic() - began < 10


def test_files_in_processes_give_what_one_process_gives() -> None:
    items = [
        (f"slime/m{i}.py", (f"import slime  # {i}\n" + "x = 'sglang'\n" + "# neutral\n" * 3_000).encode())
        for i in range(20)
    ]
    assert Translator().files(items, workers=2) == {path: TRANSLATOR.file(path, data) for path, data in items}


def test_translated_python_still_parses() -> None:
    source = 'from slime.x import (\n    sglang_y,\n)\n\n\nclass SGLangZ(sglang_y):\n    """slime\'s."""\n'
    ast.parse(TRANSLATOR.file("a.py", source.encode()).data)


def test_the_cache_gives_the_same_and_survives_damage(tmp_path: Path) -> None:
    cached = Translator(cache=tmp_path / "c")
    data = b"args = '--sglang-enable-metrics --b'\nimport sglang\n"
    first = cached.file("a.py", data)
    (entry,) = [p for p in (tmp_path / "c").rglob("*") if p.is_file()]
    assert Translator(cache=tmp_path / "c").file("a.py", data) == first == TRANSLATOR.file("a.py", data)
    entry.write_bytes(entry.read_bytes()[:-3] + b"xyz")
    assert Translator(cache=tmp_path / "c").file("a.py", data) == first


def test_the_cache_tells_kinds_and_configurations_apart(tmp_path: Path) -> None:
    data = b"    --sglang-enable-metrics\n"
    shell = Translator(cache=tmp_path).file("a.sh", data)
    assert Translator(cache=tmp_path).file("docs/en/blogs/a.txt", data) != shell
    other = Config.model_validate({"engine": "same", "names": ({"old": "slime", "new": "miles"},)})
    assert Translator(other, cache=tmp_path).file("a.sh", data).data == data


def test_the_digest_moves_with_names_and_style_but_not_with_policies() -> None:
    base = Translator().digest
    assert Translator(Config(policies=())).digest == base
    assert Translator(style="inline").digest != base
    assert Translator(Config.model_validate({"names": ({"old": "slime", "new": "mine"},)})).digest != base
