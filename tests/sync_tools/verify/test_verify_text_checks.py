"""parse, markers, residue, flags, links, patches: checks of text."""

import pytest

from sync_tools.config import Config


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("vime/a.py", "x = 1\ndef f(:\n", 2),
        ("vime/a.py", "def f():\n    x = 1\n    await g()\n", 3),
        ("vime/a.py", "def f(a, a):\n    pass\n", 1),
        ("a.toml", "x = 1\ny = \n", 2),
        ("a.json", '{"a": 1,\n "b" 2}\n', 2),
        ("a.yaml", "a: 1\nb: [1, 2\nc: 3\n", 3),
    ],
)
def test_what_does_not_parse_is_found_at_its_line(found, path, text, line):
    assert found("parse", {path: text}) == [(path, line, "parse.syntax")]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vime/a.py", "async def f():\n    await g()\n"),
        ("a.toml", "[x]\ny = 1\n"),
        ("a.json", "\ufeff{}"),
        ("a.yaml", "a: !custom [1]\n---\nb: &x 1\n"),
        (".github/workflows/pr-test.yml", "a: [\n"),
        ("a.sh", "if then fi (((\n"),
    ],
)
def test_what_parses_or_has_no_grammar_here_passes(found, path, text):
    assert found("parse", {path: text}) == []


DIFF3 = "a\n<<<<<<< ours\nb\n||||||| base\nc\n=======\nd\n>>>>>>> theirs\ne\n"


def test_the_four_markers_are_found(found):
    assert [line for _, line, _ in found("markers", {"a.sh": DIFF3})] == [2, 4, 6, 8]


def test_markers_in_crlf_files_are_found(found):
    assert len(found("markers", {"a.sh": DIFF3.replace("\n", "\r\n")})) == 4


def test_a_closing_marker_alone_is_found(found):
    assert [line for _, line, _ in found("markers", {"a.py": "x = 1\n>>>>>>> theirs\n"})] == [2]


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n\ntext\n",
        ">>>>>>> deep quote\n",
        "a <<<<<<< b\n",
        "|||||||\n",
        "Title\n=======\n>>>>>>> quote\n",
    ],
)
def test_markdown_of_the_same_look_is_no_marker(found, text):
    assert found("markers", {"a.md": text}) == []


def test_markers_in_markdown_are_found_with_their_separator(found):
    assert len(found("markers", {"a.md": "# T\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n\nU\n=======\n"})) == 3


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vime/a.py", 'NAME = "SGLang"\n'),
        ("vime/a.py", "x = args.sglang_router_ip\n"),
        ("vime/a.py", "class SlimeRouter: ...\n"),
        ("run.sh", "train --sglang-mem-fraction-static 0.8\n"),
        ("run.sh", "export SGLANG_X=1\n"),
        ("a.md", "text\n\n```bash\npython slime/train.py\n```\n"),
        ("a.md", "use `--sglang-x`\n"),
        ("a.md", "use --sglang-x here\n"),
    ],
)
def test_upstreams_names_are_found(found, path, text):
    assert [rule for _, _, rule in found("residue", {path: text})] == ["residue.name"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vime/a.py", "# see https://github.com/THUDM/slime/pull/370\n"),
        ("vime/a.py", "# adapted from sglang/srt/x.py\n"),
        ("vime/a.py", "# fixed in THUDM/slime#12\n"),
        ("vime/a.py", "from sglang.srt.utils import sglang_quant\n\nsglang_quant(1)\n"),
        ("vime/a.py", "import sglang\n\nsglang.run()\n"),
        ("vime/a.py", 'MODULE = "sglang.srt.utils"\n'),
        ("Dockerfile", "FROM lmsysorg/sglang:v0.5\n"),
        ("a.md", "This project began as slime, on SGLang.\n"),
        ("a.patch", "+import sglang\n"),
    ],
)
def test_links_attribution_and_reported_imports_keep_their_words(found, path, text):
    assert found("residue", {path: text}) == []


def test_a_name_in_what_is_put_into_a_link_is_found(found):
    text = 'URL = f"http://{args.sglang_router_ip}:{PORT}/generate"\nDOCS = "https://docs.sglang.ai/start"\n'
    assert found("residue", {"vime/a.py": text}) == [("vime/a.py", 1, "residue.name")]


def test_prose_beside_code_of_a_document_is_free(found):
    text = "Give sglang `--sglang-port`, as slime does.\n"
    assert found("residue", {"docs/a.md": text}) == [("docs/a.md", 1, "residue.name")]


def test_a_reported_line_is_no_residue(found):
    code = {"vime/a.py": 'a = 1\nb = "sglang"\n'}
    assert found("residue", code, reported={"vime/a.py": frozenset({2})}) == []


def test_names_come_from_the_configuration(found):
    config = Config.model_validate({"schema": 1, "fork": "miles", "names": ({"old": "slime", "new": "miles"},)})
    assert found("residue", {"miles/a.py": "sglang = slime = 1\n"}, config=config) == [
        ("miles/a.py", 1, "residue.name")
    ]


@pytest.mark.parametrize(
    ("flag", "fix"),
    [
        ("--vllm-mem-fraction-static", "give --vllm-gpu-memory-utilization"),
        ("--vllm-enable-metrics", "it has no counterpart: leave it out"),
        ("--vllm-gpu-memory-utilisation", "look it up"),
    ],
)
def test_flags_that_the_engine_lacks_are_found(check, flag, fix):
    findings = check("flags", {"run.sh": f"train {flag} 1\n"}).findings
    assert [f.rule for f in findings] == ["flags.unknown"]
    assert findings[0].fix.startswith(fix)


def test_flags_of_the_engine_the_launcher_and_the_tree_pass(found):
    files = {
        "run.sh": "t --vllm-max-num-seqs 512 --vllm-no-enable-prefix-caching --vllm-router-ip x --vllm-own-thing 1\n",
        "vime/a.py": 'def f(p):\n    p.add_argument("--vllm-own-thing", type=int)\n',
    }
    assert found("flags", files) == []


def test_links_that_lead_nowhere_are_found(found):
    text = (
        "[a](b.md) [c](../x/y.md#z) ![i](img.png) [h](#no) [ok](there.md) [w](https://x.y/z)\n\n```\n[n](no.md)\n```\n"
    )
    after = {"docs/a.md": text, "docs/there.md": "# T\n"}
    rules = [rule for _, _, rule in found("links", after, touched=frozenset({"docs/a.md"}))]
    assert rules == ["links.file", "links.file", "links.file", "links.heading"]


def test_links_to_files_folders_and_headings_pass(found):
    after = {
        "docs/a.md": "# One two\n\n[x](#one-two) [d](../vime/) [f](/vime/a.py) [m](mailto:a@b.c)\n",
        "vime/a.py": "",
    }
    assert found("links", after) == []


def test_documents_that_name_a_removed_file_are_found(found):
    before = {"examples/x/run_it.sh": "echo\n", "README.md": "run `examples/x/run_it.sh`\n"}
    assert found("links", {"README.md": before["README.md"]}, before) == [("README.md", 1, "links.removed")]


HUNK = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n"


def test_a_hunk_that_lost_a_line_is_found(found):
    assert found("patches", {"a.patch": HUNK}) == []
    assert found("patches", {"a.patch": HUNK.replace("+c\n", "")}) == [("a.patch", 3, "patches.count")]
