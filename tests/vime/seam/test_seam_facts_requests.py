"""What is sent for each field of a request and each sampling parameter: a row a fact."""

import copy
import json
import pickle

import pytest
from seam_world import Bytes

from vime.backends.vllm_utils.seam import UnsupportedRequest, control_call, generate_request, wake_up_query

BODY = {"input_ids": [5, 6, 7], "sampling_params": {"max_new_tokens": 4}, "return_logprob": True}


def sent(sampling=None, **body):
    return generate_request({"input_ids": [5, 6, 7], "sampling_params": sampling or {"max_new_tokens": 4}, **body})


@pytest.mark.parametrize(
    ("field", "where", "value"),
    [
        ({"rid": "a"}, "request_id", "a"),
        ({"lora_path": "tuned"}, "model", "tuned"),
        ({"extra_key": "salt"}, "cache_salt", "salt"),
        ({"priority": 0}, "priority", 0),
        ({"stream": True}, "stream_options", {"include_usage": True}),
        ({"return_logprob": True}, "logprobs", 1),
        ({"return_logprob": True, "top_logprobs_num": 5}, "logprobs", 5),
        ({"return_logprob": True, "logprob_start_len": 0}, "prompt_logprobs", 0),
        ({"return_routed_experts": True, "routed_experts_start_len": 7}, "routed_experts_prompt_start", 7),
        ({"image_data": None, "session_params": None, "bootstrap_room": None, "stream": None}, "stream", None),
        ({"return_logprob": False, "logprob_start_len": 0}, "prompt_logprobs", None),
        ({"return_logprob": True, "logprob_start_len": -1}, "prompt_logprobs", None),
    ],
)
def test_request_fields(field, where, value):
    request = sent(**field)
    assert request.get(where, request["sampling_params"].get(where)) == value
    assert not field.keys() & request.keys() - {"stream", "priority"}


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ({"text": ["a", "b"], "input_ids": None}, "text"),
        ({"input_ids": [[1, 2]]}, "input_ids"),
        ({"input_ids": "123"}, "input_ids"),
        ({"input_ids": [1.5]}, "input_ids"),
        ({"image_data": ["data:..."]}, "image_data"),
        ({"data_parallel_rank": 1}, "data_parallel_rank"),
        ({"sampling_params": [{}, {}]}, "sampling_params"),
        ({"stream": True, "return_logprob": True, "logprob_start_len": 0}, "logprob_start_len"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_name(field, named):
    with pytest.raises(UnsupportedRequest) as refused:
        sent(**field)
    assert refused.value.field == named


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"max_new_tokens": 0}, {"max_tokens": 1}),
        ({"max_new_tokens": None}, {"max_tokens": None}),
        ({}, {"max_tokens": 128}),
        ({"temperature": 0, "top_p": 1.0, "min_p": 0.0}, {"temperature": 0, "top_p": 1.0, "min_p": 0.0}),
        ({"top_k": -1}, {"top_k": -1}),
        ({"top_k": 0}, {"top_k": 0}),
        ({"top_k": None}, {"top_k": None}),
        ({"top_k": 1 << 30}, {"top_k": 1 << 30}),
        ({"stop": None}, {"stop": None}),
        ({"stop": ""}, {"stop": None}),
        ({"stop": []}, {"stop": []}),
        ({"stop": "x"}, {"stop": "x"}),
        ({"stop": ["", "x"]}, {"stop": ["x"]}),
        ({"stop_token_ids": None}, {"stop_token_ids": None}),
        ({"stop_token_ids": [9]}, {"stop_token_ids": [9]}),
        ({"no_stop_trim": False}, {"include_stop_str_in_output": False}),
        ({"min_new_tokens": 0}, {"min_tokens": 0}),
        ({"sampling_seed": 0}, {"seed": 0}),
        ({"ignore_eos": False, "n": 2}, {"ignore_eos": False, "n": 2}),
        ({"spaces_between_special_tokens": False}, {"spaces_between_special_tokens": False}),
        ({"presence_penalty": -2, "repetition_penalty": 1.1}, {"presence_penalty": -2, "repetition_penalty": 1.1}),
        ({"ebnf": "g", "regex": None}, {"structured_outputs": {"grammar": "g"}}),
        ({"stop_regex": None}, {"stop_regex": None}),
        ({"custom_params": None}, {"extra_args": None}),
        ({"custom_params": {"return_top_p_token_ids": True, "a": 1}}, {"extra_args": {"a": 1}}),
        # What sampling kept is reported only for requests with a positive top_k.
        ({"top_k": -1, "custom_params": {"return_top_p_token_ids": True}}, {"top_k": 1 << 30}),
        ({"top_k": 20, "custom_params": {"return_top_p_token_ids": True}}, {"top_k": 20}),
    ],
)
def test_sampling_parameters_row_by_row(given, wanted):
    params = sent(dict(given) or {"n": 1})["sampling_params"]
    assert {key: params.get(key) for key in wanted} == wanted
    assert None not in params.values()


@pytest.mark.parametrize(
    "given",
    [
        {"stop_regex": "a"},
        {"dry_multiplier": 1},
        {"regex": "a", "json_schema": "{}"},
        # vLLM answers 500.
        {"regex": "a", "stop_token_ids": [3]},
    ],
)
def test_sampling_parameters_that_vllm_would_ignore_or_fail_on(given):
    with pytest.raises(UnsupportedRequest):
        sent(given)


def test_a_server_that_does_not_decode_is_not_asked_for_text():
    assert "output_mode" not in sent({"detokenize": False})
    assert sent()["output_mode"] == "text"
    assert "output_mode" not in generate_request({**BODY, "stream": True}, Bytes())


def test_a_request_is_a_plain_body_on_the_wire():
    request = sent(return_logprob=True)
    assert json.loads(json.dumps(request)) == request
    assert pickle.loads(pickle.dumps(request)).asked == copy.deepcopy(request).asked == request.asked


@pytest.mark.parametrize(
    ("tags", "query"),
    [
        (None, ""),
        (["weights"], "?tags=weights"),
        (["kv_cache", "cuda_graph"], "?tags=kv_cache"),
        (["weights", "kv_cache"], "?tags=weights&tags=kv_cache"),
        # vLLM wakes nothing for what it does not know; without a query it would wake everything.
        (["cuda_graph"], "?tags=cuda_graph"),
    ],
)
def test_what_wakes_up(tags, query):
    assert wake_up_query(tags) == query
    assert control_call("http://e/wake_up", {"tags": tags}) == ("http://e/wake_up" + query, {})


@pytest.mark.parametrize(
    ("mode", "query"),
    [
        (None, ""),
        ("abort", ""),
        ("retract", "?mode=keep"),
        ("in_place", "?mode=keep&clear_cache=false"),
    ],
)
def test_what_pauses(mode, query):
    assert control_call("http://e/pause", {"mode": mode} if mode else {}) == ("http://e/pause" + query, {})
