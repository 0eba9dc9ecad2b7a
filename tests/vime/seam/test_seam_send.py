"""A sending function that speaks to vLLM; bodies of control routes; what the seam may import."""

import ast
import asyncio
import sys
from functools import partial
from pathlib import Path

import pytest
from seam_world import Bytes, answer, choice

from vime.backends.vllm_utils import seam
from vime.backends.vllm_utils.seam import abort_body, read_load, to_vllm, wake_up_query

URL = "http://router:1/inference/v1/generate"
BODY = {"input_ids": [1], "sampling_params": {"max_new_tokens": 2}}
SENT = {"token_ids": [1], "sampling_params": {"max_tokens": 2}, "output_mode": "text"}


class Wire:
    """A post that remembers what it was given."""

    def __init__(self, reply=None):
        self.calls, self.reply = [], reply or answer(choice([97], text="a"))

    async def post(self, url, payload, max_retries=60, headers=None):
        self.calls.append((url, payload, max_retries, headers))
        return self.reply

    def post_now(self, url, json=None):
        self.calls.append((url, json))
        return self.reply


def test_the_request_goes_out_and_the_answer_comes_back():
    wire = Wire()
    got = asyncio.run(to_vllm(wire.post)(URL, BODY, max_retries=2, headers={"x": "y"}))
    assert got["text"] == "a" and wire.calls == [(URL, SENT, 2, {"x": "y"})]


def test_by_keyword_bound_in_parts_and_without_await():
    wire = Wire()
    assert asyncio.run(to_vllm(wire.post)(url=URL, payload=BODY))["text"] == "a"
    assert asyncio.run(partial(to_vllm(wire.post), URL)(BODY))["text"] == "a"
    assert to_vllm(wire.post_now)(URL, json=BODY)["text"] == "a"
    assert [call[1] for call in wire.calls] == [SENT, SENT, SENT]


def test_a_text_prompt_is_encoded_on_the_way():
    wire = Wire()
    asyncio.run(to_vllm(wire.post, Bytes())(URL, {"text": "a", "sampling_params": {}}))
    assert wire.calls[0][1]["token_ids"] == [256, 97]


@pytest.mark.parametrize(
    ("url", "body"),
    [("http://search:8/find", {"text": "q", "topk": 3}), ("http://w:1/abort_requests", {}), ("http://w:1/x", None)],
)
def test_what_is_no_generate_request_passes_untouched(url, body):
    wire = Wire(reply={"found": 1})
    assert asyncio.run(to_vllm(wire.post)(url, body)) == {"found": 1}
    assert wire.calls[0][1] is body


def test_an_address_that_does_not_say_is_known_by_its_body():
    wire = Wire()
    assert asyncio.run(to_vllm(wire.post)("http://teacher:1/score", BODY))["text"] == "a"


def test_control_bodies():
    assert abort_body({"abort_all": True}) == {}
    assert abort_body({"rid": "a"}) == {"request_ids": ["generate-tokens-a"]}
    assert abort_body({"rid": ["a", "b"]}) == {"request_ids": ["generate-tokens-a", "generate-tokens-b"]}
    assert wake_up_query(["kv_cache", "cuda_graph"]) == "?tags=kv_cache"
    assert wake_up_query(None) == wake_up_query([]) == ""
    assert wake_up_query(["cuda_graph"]) == "?tags=cuda_graph"
    assert read_load({"server_load": 3}) == {"loads": [{"num_running_reqs": 3, "num_waiting_reqs": 0}]}
    assert read_load(None) is None


def test_the_seam_needs_the_standard_library_alone_and_can_be_copied():
    for path in Path(seam.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or (node.level == 0 and node.module.partition(".")[0] in sys.stdlib_module_names)
