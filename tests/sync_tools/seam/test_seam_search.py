"""The search for seam sites: what it sees, what it leaves alone, and that it is independent of the translator."""

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sync_tools.seam as seam
from sync_tools.seam.find import find

ASKING = """
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": sample.tokens, "sampling_params": sampling_params, "return_logprob": True}
    payload["rid"] = sample.id
    sampling_params["max_new_tokens"] -= 1
    output = await post(url, payload)
    kind = output["meta_info"].get("finish_reason")
    return output["text"], [p[1] for p in output["meta_info"]["output_token_logprobs"]], kind
"""


def seen(text: str, path: str = "slime/a.py") -> set[tuple[str, str]]:
    return {(s.kind, s.what) for s in find(path, text.encode())}


def test_everything_that_a_rollout_says_to_the_engine_is_seen() -> None:
    assert seen(ASKING) == {
        ("argument", "sglang_router_ip"),
        ("argument", "sglang_router_port"),
        ("endpoint", "/generate"),
        ("request field", "input_ids"),
        ("request field", "return_logprob"),
        ("request field", "rid"),
        ("sampling key", "max_new_tokens"),
        ("answer field", "meta_info"),
        ("answer field", "finish_reason"),
        ("answer field", "output_token_logprobs"),
        ("answer field", "text"),
    }


def test_places_are_those_of_the_names() -> None:
    lines = ASKING.split("\n")
    for site in find("slime/a.py", ASKING.encode()):
        at = lines[site.line - 1][site.column - 1 :]
        assert at.lstrip("\"'").startswith(site.what), site


@pytest.mark.parametrize(
    ("path", "text", "kind", "what"),
    [
        ("run.sh", "x --sglang-context-length 8\n", "flag", "--sglang-context-length"),
        ("docs/a.md", "Set `--sglang-tp-size`.\n", "flag", "--sglang-tp-size"),
        ("a.yaml", "args: --sglang-seed 1\n", "flag", "--sglang-seed"),
        ("a.py", 'f("--sglang-seed 1")\n', "flag", "--sglang-seed"),
        ("a.py", "from sglang.srt.utils import x\n", "import", "from sglang.srt.utils"),
        ("a.py", 'stub("sglang.srt.layers")\n', "import", "sglang.srt.layers"),
        ("run.sh", "python3 -m sglang.launch_server --tp 1\n", "import", "sglang.launch_server"),
        ("a.py", 'getattr(args, "sglang_ep_size", 1)\n', "argument", "sglang_ep_size"),
        ("run.sh", "export SGLANG_ENABLE_X=1\n", "environment", "SGLANG_ENABLE_X"),
        ("docs/a.md", "`sglang:num_queue_reqs`\n", "metric", "sglang:num_queue_reqs"),
        ("a.py", 'h = {"x-smg-routing-key": 1}\n', "header", "X-SMG-Routing-Key"),
        ("a.py", "class SGLangEngine: ...\n", "class", "SGLangEngine"),
        ("a.py", 'self._make_request("flush_cache")\n', "endpoint", "/flush_cache"),
        ("docs/a.md", "It calls `/abort_request` then.\n", "endpoint", "/abort_request"),
        ("run.sh", "curl http://$IP:$PORT/health_generate\n", "endpoint", "/health_generate"),
        (
            "docs/a.md",
            "```python\npost(u, {'input_ids': i, 'sampling_params': {}})\n```\n",
            "request field",
            "input_ids",
        ),
    ],
)
def test_each_kind_in_the_texts_that_hold_it(path: str, text: str, kind: str, what: str) -> None:
    assert (kind, what) in seen(text, path)


@pytest.mark.parametrize(
    "text",
    [
        'batch = {"input_ids": ids, "labels": ids}\n',
        'batch["input_ids"]\n',
        'meta_info = {"total_samples": 0}\nmeta_info["num_groups"] = 1\n',
        'fields = {"temperature": {}, "min_new_tokens": {"keys": ()}}\n',
        'config = {"return_logprob": True}\n',
        'path = "slime/rollout/generate"\n',
        'requests.get(f"{url}/metrics")\n',
        'SGLANG_ARGS=("x")\n',
        '"""What /server_info says."""\n',
    ],
)
def test_what_is_no_seam_is_not_counted(text: str) -> None:
    assert seen(text) == set()


def test_a_fallback_import_is_the_same_site_once_more() -> None:
    text = "try:\n    from sglang.srt.a import X\nexcept ImportError:\n    from sglang.b import X\n"
    assert seen(text) == {("import", "from sglang.srt.a")}
    assert len(seen(text.replace("b import X", "b import Y"))) == 2


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=80), st.sampled_from(["a.py", "a.md", "a.sh"]))
def test_hostile_bytes_come_through(noise: bytes, path: str) -> None:
    marked = b"--sglang-seed\n" + noise.replace(b"\0", b"")
    assert any(s.kind == "flag" and s.line == 1 for s in find(path, marked))


def test_the_search_knows_nothing_of_the_translator() -> None:
    """Only what compares, and what reads the rows, may import it: the search's own modules must not."""
    for name in ("find", "words", "fields", "fallbacks", "names", "protected", "model"):
        tree = ast.parse((Path(seam.__file__).parent / f"{name}.py").read_text("utf-8"))
        modules = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        assert not [m for m in modules if m.startswith("sync_tools.translate")], name
