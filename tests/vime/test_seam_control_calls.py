"""Bodies of control routes that are known only when they are sent; stream lines for whoever decodes them."""

import json

import pytest

from vime.backends.vllm_utils.seam import AnswerStream, UnsupportedRequest, control_call, pause_query


@pytest.mark.parametrize(
    ("route", "body", "sent"),
    [
        ("abort_requests", {"rid": "a"}, ("abort_requests", {"request_ids": ["generate-tokens-a"]})),
        ("abort_requests", {"abort_all": True}, ("abort_requests", {})),
        ("abort_requests", {"request_ids": ["x"]}, ("abort_requests", {"request_ids": ["x"]})),
        ("pause", {"mode": "in_place"}, ("pause?mode=keep&clear_cache=false", {})),
        ("pause", None, ("pause", {})),
        ("wake_up", {"tags": ["kv_cache", "cuda_graph"]}, ("wake_up?tags=kv_cache", {})),
        ("sleep", {"tags": ["weights", "kv_cache"]}, ("sleep", {})),
        ("inference/v1/generate", {"input_ids": [1]}, ("inference/v1/generate", {"input_ids": [1]})),
    ],
)
def test_where_to_post_what(route, body, sent):
    url, payload = control_call(f"http://w:1/{route}", body)
    assert (url, payload) == (f"http://w:1/{sent[0]}", sent[1])


def test_weights_do_not_sleep_alone():
    with pytest.raises(UnsupportedRequest):
        control_call("http://w:1/sleep", {"tags": ["weights"]})


def test_an_unknown_way_to_pause():
    with pytest.raises(UnsupportedRequest):
        pause_query("gently")


def chunk(ids, finish=None):
    content = [{"token_id": i, "logprob": -0.5} for i in ids]
    choice = {"index": 0, "token_ids": ids, "text": bytes(ids).decode(), "finish_reason": finish}
    return {"request_id": "generate-tokens-r", "choices": [{**choice, "logprobs": {"content": content}}]}


@pytest.mark.parametrize("kind", [str, bytes])
def test_lines_as_upstream_sends_them(kind):
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    sent = [f"data: {json.dumps(c)}\n" for c in (chunk([97]), chunk([98], "stop"), usage)] + ["data: [DONE]\n"]
    lines = [line if kind is str else line.encode() for line in sent]
    got = [line if kind is str else line.decode() for line in AnswerStream().upstream_lines(iter(lines))]
    assert got[-1] == "data: [DONE]\n" and all(line.endswith("\n") for line in got)
    first, last = (json.loads(line.removeprefix("data: ")) for line in got[:-1])
    assert first["text"] == "a" and first["meta_info"]["finish_reason"] is None
    assert last["text"] == "ab" and last["output_ids"] == [97, 98]
    assert last["meta_info"]["finish_reason"]["type"] == "stop" and last["meta_info"]["prompt_tokens"] == 3
    assert [pair[1] for pair in last["meta_info"]["output_token_logprobs"]] == [97, 98]
