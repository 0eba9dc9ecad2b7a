"""Documents: prose, fenced blocks of every language, sentences that the rename would make untrue."""

from sync_tools.translate import Translator
from sync_tools.translate.lines import LineMap
from sync_tools.translate.text.markdown import pieces

TRANSLATOR = Translator()


def document(text: str, path: str = "docs/en/a.md") -> str:
    return TRANSLATOR.file(path, text.encode()).data.decode()


def test_each_block_is_translated_by_its_language() -> None:
    text = (
        "SGLang:\n\n```bash\nx --sglang-enable-metrics --b\n```\n\n"
        "  ```python\n  from sglang.srt.layers import a\n  ```\n\nslime\n\n```bibtex\n@misc{slime,\n}\n```\n"
    )
    assert document(text) == text.replace("SGLang:", "vLLM:").replace("x --sglang-enable-metrics --b", "x --b").replace(
        "\nslime\n", "\nvime\n"
    )


def test_lines_of_a_report_are_those_of_the_document() -> None:
    done = TRANSLATOR.file("a.md", b"one\n\n```python\nx = 1\nimport sglang\n```\n\nslime\n")
    assert [(s.line, s.what) for s in done.unresolved] == [(5, "import sglang")]
    assert [(a.line, a.after) for a in done.applications] == [(8, "vime")]


def test_pieces_cover_the_document_and_a_closing_fence_opens_nothing() -> None:
    text = "a\n```python\nx\n```\nprose\n~~~\ny\n~~~\n```\nnever closed\n"
    found = list(pieces(text))
    assert "".join(text[p.start : p.end] for p in found) == text
    assert [p.kind for p in found] == ["markdown", "python", "markdown", "shell", "markdown"]


def test_rest_code_blocks() -> None:
    text = "Use SGLang::\n\n.. code-block:: bash\n\n   x --sglang-enable-metrics --b\n\nslime\n"
    assert document(text, "docs/index.rst") == "Use vLLM::\n\n.. code-block:: bash\n\n   x --b\n\nvime\n"


def test_a_docstring_sentence_about_cumulative_chunks_is_rewritten_and_listed() -> None:
    text = (
        '"""Streaming.\n\nThe default streaming of sglang is cumulative, each chunk\nrepeats the last. With\n``--incremental-streaming-output``'
        ' it would not.\n"""\n\nimport slime\n'
    )
    done = TRANSLATOR.file("slime/a.py", text.encode())
    assert "sglang" not in done.data.decode()
    assert "incremental" not in done.data.decode()
    assert "accumulated" in done.data.decode()
    assert {"SY501", "SY503"} <= {a.rule for a in done.applications}
    assert done.unresolved == ()


def test_code_is_never_taken_for_prose() -> None:
    text = 'x = "sglang stream is cumulative"\ncumulative = sglang_stream\n'
    assert document(text, "slime/a.py") == text.replace("sglang", "vllm")


def test_line_map_of_inserted_removed_and_changed_lines() -> None:
    lines = LineMap.between("a\nb\nc\nd\n", "new\na\nB\nd\n")
    assert [lines.line(n) for n in (1, 2, 3, 4)] == [1, 1, 2, 4]
